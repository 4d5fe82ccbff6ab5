// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "gateway/api/route.h"
#include "meter/request_record.h"
#include "metrics/page.h"

namespace allot::gateway::api {

// Counts answered requests per route and status class, with their duration. Continues the counts in
// the record, so that no count falls with a reload or with the death of a gateway. Any thread may
// call every function.
class RequestCounts {
 public:
  // `record` outlives it; nullptr: starts from 0, in its own record.
  explicit RequestCounts(meter::RequestRecord* record);

  // `route`: nullptr if the request was refused before a route was found.
  void count(const Route* route, unsigned status);
  void count(const Route* route, unsigned status, Nanos took);
  void add_to(metrics::Page& page) const;

 private:
  [[nodiscard]] meter::RouteCounts& of(const Route* route);

  std::unique_ptr<meter::RequestRecord> own_;
  meter::RequestRecord& record_;
  std::vector<meter::RouteCounts*> routes_;  // as in routes(); the last one: no route found
};

}  // namespace allot::gateway::api
