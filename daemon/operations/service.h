// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "config/settings.h"
#include "gateway/access/caller.h"
#include "operations/hosts.h"

namespace allot::operations {

// Environment of the operations. Constant while the program runs.
struct Service {
  std::vector<config::Queue> queues{};  // queues of the configuration
  std::string instance = "allot";
  std::string runtime_dir{};            // of an instance of this host; empty: none
  std::string source{"gateway"};        // where the request came in, for audit entries
  std::string base_path{};              // path prefix of a proxy: "/allot"; mostly empty
  std::uint32_t most_counted = 10'000;  // rows of a count
  // The OpenAPI document. Generated once, because it takes milliseconds and is sent by the thread
  // that serves all connections.
  std::string openapi{};
  // The next run of a schedule after a time, in seconds since 1970; nullopt: it never runs again.
  std::function<std::optional<std::int64_t>(const std::string& expression, const std::string& zone,
                                            std::int64_t after)>
      next_run{};
  // Called after a change, with what was done and to which object; may be empty.
  std::function<void(const gateway::access::Caller& caller, std::string_view what,
                     std::string_view which)>
      on_change{};
  // Host snapshot, shared by operations of all threads.
  std::shared_ptr<Hosts> hosts = std::make_shared<Hosts>();
  // Viewers of pages share the states that were read within this duration, and figures that change
  // once a minute and counts of tasks for five times as long.
  Nanos share_for = 2 * kSecond;
};

// The configuration of a queue; nullptr: the queue is not configured.
[[nodiscard]] const config::Queue* configured(const Service& service, const std::string& queue);

}  // namespace allot::operations
