// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin_host/host_hooks.h"
#include "plugin_host/registry.h"

namespace allot::plugin_host {

struct CallInput {
  std::string_view id;
  std::string_view queue;
  std::string_view type;
  std::string_view payload;
  std::uint32_t attempt = 1;
  std::uint32_t max_attempts = 1;
  std::uint64_t soft_deadline_ns = 0;  // CLOCK_BOOTTIME
  std::string_view traceparent{};      // empty: none
  std::string_view tracestate{};
};

// How an attempt ended: as its handler says (allot_outcome), or as its worker knows.
enum class OutcomeKind {
  kSuccess = ALLOT_SUCCESS,
  kRetry = ALLOT_RETRY,
  kFail = ALLOT_FAIL,               // its handler excluded a further attempt
  kSnooze = ALLOT_SNOOZE,           // its handler asks for a later call; not a failure
  kRelease = ALLOT_RELEASE,         // its handler gives it to another worker; not a failure
  kException = ALLOT_EXCEPTION,     // its handler threw, or its writes were lost
  kNotStarted = ALLOT_NOT_STARTED,  // the program that its handler starts could not begin
  kCrash,                           // its worker or host died with it
  kNotBegun  // no attempt: its time was over, or its attempts were used up before
};
inline const char* name_of(OutcomeKind kind) {
  constexpr std::array kNames = {"success",   "retry",       "fail",  "snooze",   "release",
                                 "exception", "not_started", "crash", "not_begun"};
  return kNames.at(static_cast<std::size_t>(kind));
}

struct CallResult {
  OutcomeKind kind = OutcomeKind::kSuccess;
  // The delay of a retry or snooze, at most a century; nullopt: the policy decides.
  std::optional<std::chrono::milliseconds> delay;
  std::string reason;    // at most 64 KiB
  std::string detail{};  // likewise; of a failed attempt
};

// Runs one task in its handler, over the C ABI. A meaningless outcome counts as a retry.
CallResult call(const LoadedHandler& handler, const CallInput& input, HostHooks& hooks);

struct ManyResult {
  std::vector<CallResult> each;  // in the order of the tasks; empty when the call failed
  std::string error;             // why it failed, at most 64 KiB
};

// Runs several tasks in one call of a handler that takes them (max_batch); each input has its
// own hooks.
ManyResult call_many(const LoadedHandler& handler, std::span<const CallInput> inputs,
                     std::span<HostHooks* const> hooks);

}  // namespace allot::plugin_host
