// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/http/message.h"
#include "gateway/work/combiner.h"
#include "json/task_reader.h"

// POST /api/v1/tasks: converts a request to an order of the combiner, and the outcome to a
// response.
namespace allot::gateway::api {

// The media type of the body, in lower case and without parameters; empty: missing.
[[nodiscard]] std::string media_type(const http::Head& head);

// Size limit of the body. Throws Refusal, 415, for an unsupported type.
[[nodiscard]] std::size_t most_body(const http::Head& head);

// The trace of a request, for its tasks without their own.
[[nodiscard]] queue::Trace trace_of(const http::Head& head);
void join_trace(queue::SubmitOptions& options, const queue::Trace& trace);

struct Submission {
  std::vector<queue::Submission> tasks;
  bool several = false;  // an array
};
// Throws Refusal and Error(kExitBadInput).
[[nodiscard]] Submission submission_of(http::Request& request);

// Called by the combiner before a task goes to a queue: whether the caller may submit to it. The
// queue after routing counts.
[[nodiscard]] queue::Permit permit_of(const access::Caller& caller);

// Logs one line for the new tasks. Returns their number.
std::size_t log_submission(const access::Caller& caller, const std::vector<queue::Submitted>& made);

// Logs one line for a request that changed something: caller, action and object.
void log_action(const access::Caller& caller, std::string_view what, std::string_view which);

// The response to an outcome without an error.
[[nodiscard]] http::Response answer_of(const work::Outcome& outcome, bool several,
                                       const std::string& base_path, const access::Caller& caller);

}  // namespace allot::gateway::api
