// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gateway/access/caller.h"
#include "gateway/http/application.h"
#include "gateway/work/combiner.h"
#include "gateway/work/crew.h"
#include "queue/model/headers.h"

// POST /api/v1/tasks with application/x-ndjson: as `allot submit --ndjson`, one task for each line,
// all or nothing for each batch.
namespace allot::gateway::api {

struct LineOptions {
  std::uint32_t batch = 1'000;  // lines of one transaction
  std::uint32_t from_line = 1;  // what comes before is read, and not submitted
  bool ids = false;             // the line about a batch has the ids of its tasks
  queue::Trace trace{};         // of lines that have none of their own
};

// Throws Refusal for wrong options in the query, and for an Idempotency-Key.
[[nodiscard]] LineOptions line_options_of(const http::Head& head);

// The crew and the surroundings outlive it.
[[nodiscard]] std::unique_ptr<http::LineStream> submit_lines(work::Crew& crew,
                                                             const work::Surroundings& surroundings,
                                                             access::Caller caller,
                                                             const LineOptions& options);

}  // namespace allot::gateway::api
