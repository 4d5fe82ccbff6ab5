// SPDX-License-Identifier: Apache-2.0
#include "worker/attempt.h"

#include "log/log.h"
#include "plugin_host/handler_call.h"

namespace allot::worker {

void log_ran(const TaskRun::Attempt& attempt, const plugin_host::CallResult& result, Nanos ran) {
  log::debug("task.ran", {{"task", attempt.id},
                          {"type", attempt.task.type},
                          {"attempt", attempt.number},
                          {"outcome", plugin_host::name_of(result.kind)},
                          {"runtime_us", ran / kMicro}});
}

void log_overrun(const TaskRun::Attempt& attempt) {
  log::warn("lease.overrun",
            {{"task", attempt.id}, {"partition", attempt.lease.partition.partition_no}});
}

}  // namespace allot::worker
