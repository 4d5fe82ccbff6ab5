// SPDX-License-Identifier: Apache-2.0
#include "worker/run/run_log.h"

#include "log/log.h"
#include "worker/run/failure.h"

namespace allot::worker {
namespace {

Logged logged(const Run& run) {
  return {run.id, run.shown_type(), run.queue.info.name, run.task.headers.trace.id()};
}

// Bounded: the full text is in the database.
log::Field detail_field(std::string_view detail) {
  constexpr std::size_t kMostLogged = 2 << 10;
  return {detail.empty() ? "" : "detail", last_lines(detail, kMostLogged)};
}

}  // namespace

bool is_slow(Nanos ran, std::chrono::milliseconds slow_after) {
  return ran >= in_nanos(slow_after);
}

void log_ran(const Run& run, const plugin_host::CallResult& result,
             std::chrono::milliseconds slow_after) {
  const bool slow = is_slow(run.ran_ns(), slow_after);
  log::write(slow ? log::Level::kInfo : log::Level::kDebug, "task.ran",
             {{"task", run.id},
              {"type", run.shown_type()},
              {"queue", run.queue.info.name},
              trace_field(run.task),
              {"attempt", run.number},
              {"outcome", plugin_host::name_of(result.kind)},
              {"runtime_us", run.ran_ns() / kMicro},
              {"wait_us", run.waited.count()},
              {slow ? "cpu_us" : "", run.usage.cpu_us.value_or(0)}});
}

void log_end(const Run& run, const Facts& facts, const Decision& decision) {
  using Became = meter::Count;
  const auto delay_ms = [&] {
    return decision.partition_wait.value_or(decision.ending->delay).count() / 1000;
  };
  const bool began = facts.outcome != Facts::Outcome::kNotBegun;
  switch (decision.what) {
    case Became::kRetried:
      return log::warn("task.retry", {{"task", run.id},
                                      {"type", run.shown_type()},
                                      {"queue", run.queue.info.name},
                                      trace_field(run.task),
                                      {"attempt", facts.attempt},
                                      {"max_attempts", facts.most},
                                      {"retry_in_ms", delay_ms()},
                                      {"cause", facts.cause},
                                      {"error", facts.failure.message},
                                      detail_field(facts.failure.detail)});
    case Became::kSnoozed:
      if (facts.outcome == Facts::Outcome::kNotStarted) {
        return log::warn("task.put_off", {{"task", run.id},
                                          {"type", run.shown_type()},
                                          trace_field(run.task),
                                          {"failed_starts", facts.unstarted + 1},
                                          {"max_failed_starts", queue::kMostUnstarted},
                                          {"retry_in_ms", delay_ms()},
                                          {"reason", facts.failure.message}});
      }
      return log::info(facts.outcome == Facts::Outcome::kSnooze ? "task.snoozed" : "task.released",
                       {{"task", run.id},
                        {"type", run.shown_type()},
                        trace_field(run.task),
                        {"retry_in_ms", delay_ms()},
                        {"reason", facts.failure.message}});
    case Became::kInterrupted:
      return log::info(
          "task.interrupted",
          {{"task", run.id}, trace_field(run.task), {"reason", facts.failure.message}});
    case Became::kDead:
      return log_dead(logged(run), facts.attempt, decision.ending->verdict);
    case Became::kCancelled:
      return log_cancelled(logged(run), facts.cancel->reason,
                           began ? "its handler ended" : "it was not started again");
    case Became::kDone:
      return log_cancelled(logged(run), facts.cancel->reason,
                           began ? "its handler ended, and it counts as done"
                                 : "it was not started again, and it counts as done");
    default:
      return;
  }
}

void log_overrun(const Run& run) {
  log::warn(
      "lease.overrun",
      {{"task", run.id}, trace_field(run.task), {"partition", run.lease.partition.partition_no}});
}

void log_dead(const Logged& task, std::uint32_t last, const queue::Verdict& verdict) {
  log::error("task.dead", {{"task", task.id},
                           {"type", task.type},
                           {"queue", task.queue},
                           trace_field(task.trace_id),
                           {"attempt", last},
                           {"cause", verdict.cause},
                           {"error", verdict.error},
                           detail_field(verdict.detail)});
}

void log_cancelled(const Logged& task, std::string_view reason, std::string_view how) {
  log::info("task.cancelled", {{"task", task.id},
                               {"type", task.type},
                               {"queue", task.queue},
                               trace_field(task.trace_id),
                               {"detail", how},
                               {"reason", reason}});
}

}  // namespace allot::worker
