// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
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

enum class OutcomeKind { kSuccess, kRetry, kFail, kSnooze, kRelease, kException, kNotStarted };
const char* name_of(OutcomeKind kind);

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
