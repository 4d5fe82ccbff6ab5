// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/sources/context.h"
#include "queue/model/catalog.h"

namespace allot::cli {

struct QueueOptions {
  std::string queue;
  std::string reason;  // of a pause
  bool json = false;
};

// allot queue list shows the queues and which of them are paused.
int list_queues(const Context& context, const QueueOptions& options);

// allot queue pause and allot queue resume hold for all hosts.
int pause_queue(const Context& context, const QueueOptions& options);
int resume_queue(const Context& context, const QueueOptions& options);

// "since 2026-...: reason", or "" for one that is not paused.
[[nodiscard]] std::string pause_text(const queue::QueueInfo& queue);
// {"since": ..., "reason": ...}, or null.
[[nodiscard]] nlohmann::json pause_json(const queue::QueueInfo& queue);

}  // namespace allot::cli
