// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "plugin_host/handler_call.h"
#include "queue/verbs/ending.h"
#include "worker/run/decide.h"
#include "worker/run/run.h"

// What the log says of runs, whoever ends them.
namespace allot::worker {

void log_ran(const Run& run, const plugin_host::CallResult& result);
// What became of the task.
void log_end(const Run& run, const Facts& facts, const Decision& decision);
// S5: the task may have run beside another run of it. The checker demands a fault that explains it.
void log_overrun(const Run& run);
// The task has moved into task_dead: its attempt number `last` was the last one.
void log_dead(const std::string& id, std::string_view type, std::uint32_t last,
              const queue::Verdict& verdict);
// How the cancellation ended the task.
void log_cancelled(const std::string& id, std::string_view type, std::string_view reason,
                   std::string_view how);

}  // namespace allot::worker
