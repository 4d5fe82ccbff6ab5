// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "log/log.h"
#include "plugin_host/handler_call.h"
#include "queue/model/task.h"
#include "queue/verbs/ending.h"
#include "worker/run/decide.h"
#include "worker/run/run.h"

// Log lines about runs, for every process that ends them.
namespace allot::worker {

// The field that ties a line to the trace of its task; empty for a task without a trace.
inline log::Field trace_field(std::string_view trace_id) {
  return {trace_id.empty() ? "" : "trace_id", trace_id};
}
inline log::Field trace_field(const queue::Task& task) {
  return trace_field(task.headers.trace.id());
}

// Name of a task in the lines below.
struct Logged {
  std::string_view id;
  std::string_view type;
  std::string_view queue;
  std::string_view trace_id{};
};

// Whether a handler ran long enough for a line at level info.
[[nodiscard]] bool is_slow(Nanos ran, std::chrono::milliseconds slow_after);
// At level info if the handler ran for `slow_after` or longer, else at debug.
void log_ran(const Run& run, const plugin_host::CallResult& result,
             std::chrono::milliseconds slow_after);
// Logs the result of the task.
void log_end(const Run& run, const Facts& facts, const Decision& decision);
// S5: the task may have overlapped another run of it. The checker demands a fault that explains it.
void log_overrun(const Run& run);
// The task has moved to task_dead after its last attempt, number `last`.
void log_dead(const Logged& task, std::uint32_t last, const queue::Verdict& verdict);
// How the cancellation ended the task.
void log_cancelled(const Logged& task, std::string_view reason, std::string_view how);

}  // namespace allot::worker
