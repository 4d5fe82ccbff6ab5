// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/handler_call.h"

#include <algorithm>

#include "plugin_host/abi_check.h"

namespace allot::plugin_host {
namespace {

constexpr std::size_t kMaxReason = 64 << 10;
// Far enough for "never", and small enough to be counted in nanoseconds.
constexpr std::int64_t kMaxDelayMs = std::int64_t{36500} * 24 * 3600 * 1000;

allot_str text(std::string_view from) {
  return {from.data(), from.size()};
}

void read_delay(const allot_outcome& outcome, CallResult& result) {
  if (outcome.delay_ms < 0) return;
  result.delay = std::chrono::milliseconds(std::min(outcome.delay_ms, kMaxDelayMs));
}

std::int32_t last_kind(std::uint32_t abi_version) {
  return abi_version < 3 ? ALLOT_FAIL : ALLOT_EXCEPTION;
}

// Never an acknowledgement: what this handler meant is not known.
CallResult unknown(std::int32_t kind, std::uint32_t abi_version) {
  CallResult result;
  result.kind = OutcomeKind::kRetry;
  result.reason = "the handler returned an unknown outcome (" + std::to_string(kind) + ")";
  if (kind >= ALLOT_SUCCESS && kind <= ALLOT_EXCEPTION) {
    result.reason += "; its plugin was compiled for plugin ABI " + std::to_string(abi_version) +
                     ", which has 0 to " + std::to_string(last_kind(abi_version)) +
                     ": compile it with the headers of this version";
  }
  return result;
}

// A number that came with a later version is none of this plugin's outcomes, whatever it means now.
CallResult read(const allot_outcome& outcome, const std::string& buffer,
                std::uint32_t abi_version) {
  if (outcome.kind > last_kind(abi_version)) return unknown(outcome.kind, abi_version);
  CallResult result;
  result.reason = buffer.substr(0, std::min(outcome.reason.size, buffer.size()));
  switch (outcome.kind) {
    case ALLOT_SUCCESS:
      result.kind = OutcomeKind::kSuccess;
      break;
    case ALLOT_RETRY:
      result.kind = OutcomeKind::kRetry;
      read_delay(outcome, result);
      break;
    case ALLOT_FAIL:
      result.kind = OutcomeKind::kFail;
      break;
    case ALLOT_SNOOZE:
      result.kind = OutcomeKind::kSnooze;
      read_delay(outcome, result);
      break;
    case ALLOT_RELEASE:
      result.kind = OutcomeKind::kRelease;
      break;
    case ALLOT_EXCEPTION:
      result.kind = OutcomeKind::kException;
      break;
    default:
      return unknown(outcome.kind, abi_version);
  }
  return result;
}

}  // namespace

const char* name_of(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kSuccess:
      return "success";
    case OutcomeKind::kRetry:
      return "retry";
    case OutcomeKind::kFail:
      return "fail";
    case OutcomeKind::kSnooze:
      return "snooze";
    case OutcomeKind::kRelease:
      return "release";
    case OutcomeKind::kException:
      return "exception";
  }
  return "unknown";
}

CallResult call(const LoadedHandler& handler, const CallInput& input, HostHooks& hooks) {
  // One buffer per thread: 64 KiB that most tasks never touch are not cleared for each of them.
  thread_local std::string buffer(kMaxReason, '\0');
  const allot_task task = {sizeof(allot_task), text(input.id),        text(input.queue),
                           text(input.type),   text(input.payload),   input.attempt,
                           input.max_attempts, input.soft_deadline_ns};
  const allot_host host = host_of(hooks);
  allot_outcome outcome = {sizeof(allot_outcome),
                           ALLOT_SUCCESS,
                           ALLOT_DELAY_BY_POLICY,
                           {buffer.data(), buffer.size(), 0}};
  handler.handler->run(handler.self, &task, &host, &outcome);
  return read(outcome, buffer, handler.abi_version);
}

}  // namespace allot::plugin_host
