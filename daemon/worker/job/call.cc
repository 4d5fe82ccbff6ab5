// SPDX-License-Identifier: Apache-2.0
#include "worker/job/call.h"

#include <algorithm>
#include <array>

#include "log/log.h"
#include "process/stop_request.h"
#include "worker/run/run_log.h"

namespace allot::worker {
namespace {

plugin_host::CallAnswer not_here(const char* what) {
  return {ALLOT_BAD_INPUT, std::string("not in a call with several tasks: ") + what};
}

}  // namespace

void Call::Hooks::log(int level, std::string_view text) noexcept {
  const auto at = static_cast<log::Level>(std::clamp(level, 0, 3));
  log::write(at, "handler.log",
             {{"task", run_.id}, {"type", run_.task.type}, trace_field(run_.task), {"text", text}});
  constexpr std::array kLevels = {"debug", "info", "warn", "error"};
  run_.said.add(kLevels.at(static_cast<std::size_t>(at)), text);
}

// The most important reason for the task comes first.
std::int32_t Call::Hooks::stop_reason() noexcept {
  if (run_.cancelled()) return ALLOT_STOP_CANCELLED;
  if (boot_ns() >= run_.soft_deadline_ns()) return ALLOT_STOP_TIME_LIMIT;
  if (!call_.keeper_.valid(run_)) return ALLOT_STOP_LEASE;
  return process::asked() == process::Asked::kStop ? ALLOT_STOP_WORKER : ALLOT_STOP_NONE;
}

// A heartbeat of any task is progress of the call.
void Call::Hooks::heartbeat() noexcept {
  const Nanos now = boot_ns();
  for (Member& member : call_.members) member.run.progress(now);
}

void Call::Hooks::progress(std::uint32_t percent, std::string_view word) noexcept {
  run_.show_progress(percent, word);
  heartbeat();
}

plugin_host::CallAnswer Call::Hooks::checkpoint(std::string_view payload) noexcept {
  if (call_.several()) return not_here("a checkpoint is only for a task that runs alone");
  return writes.checkpoint(payload);
}

plugin_host::CallAnswer Call::Hooks::submit(std::span<const allot_submission* const> tasks,
                                            std::vector<std::string>& ids) noexcept {
  const MutexLock held(call_.submitting_);
  return writes.submit(tasks, ids);
}

plugin_host::CallAnswer Call::Hooks::replace_with(
    std::span<const allot_submission* const> tasks) noexcept {
  if (call_.several()) {
    return not_here("replace_with is only for a task that runs alone; submit works immediately");
  }
  return writes.replace_with(tasks);
}

plugin_host::CallAnswer Call::Hooks::execute(std::string_view statement,
                                             std::span<const allot_value> values,
                                             const plugin_host::TakeRow& take_row) noexcept {
  if (call_.several()) return not_here("a transaction is only for a task that runs alone");
  return writes.execute(statement, values, take_row);
}

}  // namespace allot::worker
