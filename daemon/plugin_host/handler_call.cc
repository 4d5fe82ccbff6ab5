// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/handler_call.h"

#include <algorithm>
#include <memory>

#include "plugin_host/abi_check.h"

namespace allot::plugin_host {
namespace {

constexpr std::size_t kMaxReason = 64 << 10;
constexpr std::size_t kRoom = 2 * kMaxReason;  // for reason and detail of an outcome
// Long enough for "never", and small enough to be counted in nanoseconds.
constexpr std::int64_t kMaxDelayMs = std::int64_t{36500} * 24 * 3600 * 1000;

allot_str text(std::string_view from) {
  return {from.data(), from.size()};
}

allot_str maybe(std::string_view from) {
  return from.empty() ? allot_str{nullptr, 0} : text(from);
}

std::string read(const allot_text& text) {
  return {text.data, std::min(text.size, text.capacity)};
}

CallResult read(const allot_outcome& outcome) {
  CallResult result;
  result.reason = read(outcome.reason);
  result.detail = read(outcome.detail);
  if (outcome.kind < ALLOT_SUCCESS || outcome.kind > ALLOT_NOT_STARTED) {
    // Never an acknowledgement: what this handler meant is not known.
    result.kind = OutcomeKind::kRetry;
    result.reason =
        "the handler returned an unknown outcome (" + std::to_string(outcome.kind) + ")";
    return result;
  }
  result.kind = static_cast<OutcomeKind>(outcome.kind);
  const bool may_delay = outcome.kind == ALLOT_RETRY || outcome.kind == ALLOT_SNOOZE ||
                         outcome.kind == ALLOT_NOT_STARTED;
  if (may_delay && outcome.delay_ms >= 0) {
    result.delay = std::chrono::milliseconds(std::min(outcome.delay_ms, kMaxDelayMs));
  }
  return result;
}

allot_task task_of(const CallInput& input) {
  return {sizeof(allot_task),     text(input.id),         text(input.queue),
          text(input.type),       text(input.payload),    input.attempt,
          input.max_attempts,     input.soft_deadline_ns, maybe(input.traceparent),
          maybe(input.tracestate)};
}

allot_outcome outcome_in(char* room) {
  return {sizeof(allot_outcome),
          ALLOT_SUCCESS,
          ALLOT_DELAY_BY_POLICY,
          {room, kMaxReason, 0},
          {room + kMaxReason, kMaxReason, 0}};
}

}  // namespace

CallResult call(const LoadedHandler& handler, const CallInput& input, HostHooks& hooks) {
  // One buffer per thread, so that 128 KiB which most tasks never touch are not cleared for each
  // task.
  thread_local std::string buffer(kRoom, '\0');
  const allot_task task = task_of(input);
  const allot_host host = host_of(hooks);
  allot_outcome outcome = outcome_in(buffer.data());
  handler.handler->run(handler.self, &task, &host, &outcome);
  return read(outcome);
}

ManyResult call_many(const LoadedHandler& handler, std::span<const CallInput> inputs,
                     std::span<HostHooks* const> hooks) {
  const std::size_t count = inputs.size();
  // Room for the reasons and the error. It is not cleared: pages that no text reaches take no
  // memory.
  const auto room = std::make_unique_for_overwrite<char[]>(count * kRoom + kMaxReason);
  std::vector<allot_task> tasks;
  std::vector<allot_host> hosts;
  std::vector<allot_outcome> outcomes;
  for (std::size_t i = 0; i < count; ++i) {
    tasks.push_back(task_of(inputs[i]));
    hosts.push_back(host_of(*hooks[i]));
    outcomes.push_back(outcome_in(&room[i * kRoom]));
  }
  std::vector<const allot_task*> task_list;
  std::vector<const allot_host*> host_list;
  std::vector<allot_outcome*> outcome_list;
  for (std::size_t i = 0; i < count; ++i) {
    task_list.push_back(&tasks[i]);
    host_list.push_back(&hosts[i]);
    outcome_list.push_back(&outcomes[i]);
  }
  char* const words = &room[count * kRoom];
  allot_text error = {words, kMaxReason, 0};
  ManyResult result;
  if (handler.handler->run_many(handler.self, task_list.data(), host_list.data(), count,
                                outcome_list.data(), &error) != 0) {
    result.error.assign(words, std::min(error.size, kMaxReason));
    return result;
  }
  for (const allot_outcome& outcome : outcomes) result.each.push_back(read(outcome));
  return result;
}

}  // namespace allot::plugin_host
