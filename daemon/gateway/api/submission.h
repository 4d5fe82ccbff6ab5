// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "gateway/access/caller.h"
#include "gateway/http/message.h"
#include "gateway/work/combiner.h"
#include "json/task_reader.h"

// POST /api/v1/tasks: from a request to an order of the combiner, and back to an answer.
namespace allot::gateway::api {

// The type of the body, in lower case and without its parameters; empty: none is named.
[[nodiscard]] std::string media_type(const http::Head& head);

// How large the body may be. Throws Refusal, 415, for a type that nobody can submit.
[[nodiscard]] std::size_t most_body(const http::Head& head);

// The trace of a request, for those of its tasks that have none of their own.
[[nodiscard]] queue::Trace trace_of(const http::Head& head);
void join_trace(queue::SubmitOptions& options, const queue::Trace& trace);

struct Submission {
  std::vector<work::Wanted> tasks;
  bool several = false;  // an array
};
// Throws Refusal and Error(kExitBadInput).
[[nodiscard]] Submission submission_of(http::Request& request);

// What the combiner asks before a task goes to a queue: whether that is one of the caller's. The
// queue after routing counts.
[[nodiscard]] work::Permit permit_of(const access::Caller& caller);

[[nodiscard]] work::Wanted wanted_of(as_json::NewTask task);

// One line of the log for those that are new. Returns how many are.
std::size_t log_submission(const access::Caller& caller, const std::vector<queue::Submitted>& made);

// Of an outcome without an error.
[[nodiscard]] http::Response answer_of(const work::Outcome& outcome, bool several,
                                       const std::string& base_path, const access::Caller& caller);

}  // namespace allot::gateway::api
