// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/context.h"
#include "queue/catalog.h"

namespace allot::cli {

struct QueueOptions {
  std::string queue;
  std::string reason;  // of a pause
  bool json = false;
};

// allot queue list: the queues and which of them are paused.
int list_queues(const Context& context, const QueueOptions& options);

// allot queue pause, allot queue resume: for all hosts, until it is resumed.
int pause_queue(const Context& context, const QueueOptions& options);
int resume_queue(const Context& context, const QueueOptions& options);

// "since 2026-...: reason", or "" for one that is not paused.
[[nodiscard]] std::string pause_text(const queue::QueueInfo& queue);
// {"since": ..., "reason": ...}, or null.
[[nodiscard]] nlohmann::json pause_json(const queue::QueueInfo& queue);

}  // namespace allot::cli
