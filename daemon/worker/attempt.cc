// SPDX-License-Identifier: Apache-2.0
#include "worker/attempt.h"

#include "log/log.h"
#include "plugin_host/handler_call.h"
#include "worker/cancel_watch.h"
#include "worker/recovery.h"

namespace allot::worker {

void log_ran(const TaskRun::Attempt& attempt, const plugin_host::CallResult& result, Nanos ran) {
  log::debug("task.ran", {{"task", attempt.id},
                          {"type", attempt.task.type},
                          {"attempt", attempt.number},
                          {"outcome", plugin_host::name_of(result.kind)},
                          {"runtime_us", ran / kMicro}});
}

void log_end(const TaskRun::Attempt& attempt, const Facts& facts, const Decision& decision) {
  using What = Decision::What;
  const auto pause_ms = [&] {
    return decision.hold.value_or(decision.ending->delay).count() / 1000;
  };
  const bool began = facts.outcome != Facts::Outcome::kNotBegun;
  switch (decision.what) {
    case What::kFinished:
      return;
    case What::kRetried:
      return log::warn("task.retry", {{"task", attempt.id},
                                      {"type", attempt.task.type},
                                      {"attempt", facts.attempt},
                                      {"of", facts.most},
                                      {"again_in_ms", pause_ms()},
                                      {"cause", facts.cause},
                                      {"error", facts.error}});
    case What::kPutOff:
      return log::info(facts.outcome == Facts::Outcome::kSnooze ? "task.snoozed" : "task.released",
                       {{"task", attempt.id},
                        {"type", attempt.task.type},
                        {"again_in_ms", pause_ms()},
                        {"reason", facts.error}});
    case What::kInterrupted:
      return log::info("task.interrupted", {{"task", attempt.id}, {"reason", facts.error}});
    case What::kDead:
      return log_dead(attempt.id, attempt.task.type, facts.attempt, {facts.cause, facts.error});
    case What::kCancelled:
      return log_cancelled(attempt.id, attempt.task.type, facts.cancel->reason,
                           began ? "its handler ended" : "it was not started again");
    case What::kEnded:
      return log_cancelled(attempt.id, attempt.task.type, facts.cancel->reason,
                           began ? "its handler ended, and it counts as done"
                                 : "it was not started again, and it counts as done");
  }
}

void log_overrun(const TaskRun::Attempt& attempt) {
  log::warn("lease.overrun",
            {{"task", attempt.id}, {"partition", attempt.lease.partition.partition_no}});
}

}  // namespace allot::worker
