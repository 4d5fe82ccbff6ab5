// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/plugin.h"

namespace allot::plugin_host {

// The result of a handler's call that writes.
struct CallAnswer {
  std::int32_t code = ALLOT_OK;  // ALLOT_LEASE_LOST ...
  std::string error{};           // for people
  std::uint32_t error_number = 0;
  std::uint64_t affected = 0;
  std::uint64_t insert_id = 0;
};

using TakeRow = std::function<void(std::span<const allot_str> fields)>;

// Functions of the worker that a running handler may call. Tasks passed to it are complete: none is
// null or too small. Called from any thread, and never throws. This class is a host that does
// nothing: calls that write are unavailable unless they are overridden.
class HostHooks {
 public:
  HostHooks() = default;
  HostHooks(const HostHooks&) = delete;
  HostHooks& operator=(const HostHooks&) = delete;
  virtual ~HostHooks() = default;
  virtual void log(int /*level*/, std::string_view /*text*/) noexcept {}
  // ALLOT_STOP_NONE: the handler may continue.
  virtual std::int32_t stop_reason() noexcept { return ALLOT_STOP_NONE; }
  virtual void heartbeat() noexcept {}
  virtual void progress(std::uint32_t /*percent*/, std::string_view /*word*/) noexcept {}

  virtual CallAnswer checkpoint(std::string_view payload) noexcept;
  virtual CallAnswer submit(std::span<const allot_submission* const> tasks,
                            std::vector<std::string>& ids) noexcept;
  virtual CallAnswer replace_with(std::span<const allot_submission* const> tasks) noexcept;
  virtual CallAnswer execute(std::string_view statement, std::span<const allot_value> values,
                             const TakeRow& take_row) noexcept;
};

// The functions of allot_host over `hooks`, which must outlive the result.
allot_host host_of(HostHooks& hooks);

}  // namespace allot::plugin_host
