// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gateway/access/caller.h"
#include "gateway/http/application.h"
#include "gateway/work/thread_pool.h"
#include "queue/model/headers.h"
#include "queue/submit/submitter.h"

// POST /api/v1/tasks with application/x-ndjson: one task per line, all or nothing per batch, like
// `allot submit --ndjson`.
namespace allot::gateway::api {

struct LineOptions {
  std::uint32_t batch = 1'000;  // number of lines in a transaction
  std::uint32_t from_line = 1;  // earlier lines are read, but not submitted
  bool ids = false;             // the report line of a batch has the ids of its tasks
  queue::Trace trace{};         // for lines without their own
};

// Throws Refusal for invalid options in the query, and for an Idempotency-Key.
[[nodiscard]] LineOptions line_options_of(const http::Head& head);

// The pool outlives the stream.
[[nodiscard]] std::unique_ptr<http::LineStream> submit_lines(work::ThreadPool& pool,
                                                             queue::Submitter submitter,
                                                             access::Caller caller,
                                                             const LineOptions& options);

}  // namespace allot::gateway::api
