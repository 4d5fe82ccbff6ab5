// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/http/application.h"
#include "gateway/work/thread_pool.h"
#include "json/task_reader.h"
#include "queue/model/headers.h"
#include "queue/submit/submitter.h"

// POST /api/v1/tasks: what HTTP adds to a submission.
namespace allot::gateway::api {

// The media type of the body, in lower case and without parameters; empty: missing.
[[nodiscard]] std::string media_type(const http::Head& head);

// Size limit of the body. Throws Refusal, 415, for an unsupported type.
[[nodiscard]] std::size_t most_body(const http::Head& head);

// The trace of a request, for its tasks without their own.
[[nodiscard]] queue::Trace trace_of(const http::Head& head);

// Throws Refusal and Error(kExitBadInput).
[[nodiscard]] as_json::TaskBody submission_of(http::Request& request);

// A body of the type application/x-ndjson: one task per line, all or nothing per batch, like
// `allot submit --ndjson`. Throws Refusal for invalid options in the query, and for an
// Idempotency-Key. The pool outlives the stream.
[[nodiscard]] std::unique_ptr<http::LineStream> submit_lines(work::ThreadPool& pool,
                                                             queue::Submitter submitter,
                                                             access::Caller caller,
                                                             const http::Head& head);

// Called by the combiner before a task goes to a queue: whether the caller may submit to it. The
// queue after routing counts.
[[nodiscard]] queue::Permit permit_of(const access::Caller& caller);

// Logs one line for the new tasks.
void log_submission(const access::Caller& caller, const std::vector<queue::Submitted>& made);

// Logs one line for a request that changed something: caller, action and object.
void log_action(const access::Caller& caller, std::string_view what, std::string_view which);

}  // namespace allot::gateway::api
