// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "gateway/api/route.h"
#include "meter/request_record.h"
#include "metrics/page.h"

namespace allot::gateway::api {

// How many requests of each route were answered, with which class of status, and how long that
// took. It goes on with what is in the record, so that no count falls with a reload or with the
// death of a gateway. Any thread may call every function.
class RequestCounts {
 public:
  // `record` outlives it; nullptr: it begins anew, in a record of its own.
  explicit RequestCounts(meter::RequestRecord* record);

  // `route`: nullptr, where it was refused before one was found.
  void count(const Route* route, unsigned status);
  void count(const Route* route, unsigned status, Nanos took);
  void add_to(metrics::Page& page) const;

 private:
  [[nodiscard]] meter::RouteCounts& of(const Route* route);

  std::unique_ptr<meter::RequestRecord> own_;
  meter::RequestRecord& record_;
  std::vector<meter::RouteCounts*> routes_;  // as in routes(); the last one: none was found
};

}  // namespace allot::gateway::api
