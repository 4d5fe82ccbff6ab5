// SPDX-License-Identifier: Apache-2.0
#include "cli/words/pause_view.h"

#include <nlohmann/json.hpp>

#include "cli/words/text.h"

namespace allot::cli {

std::string pause_text(const queue::QueueInfo& queue) {
  if (!queue.paused) return {};
  const std::string& reason = queue.paused->reason;
  return "since " + queue.paused->at + (reason.empty() ? "" : ": " + printable(reason, 300));
}

nlohmann::json pause_json(const queue::QueueInfo& queue) {
  if (!queue.paused) return nullptr;
  return {{"since", queue.paused->at}, {"reason", queue.paused->reason}};
}

nlohmann::json rate_json(const queue::QueueInfo& queue) {
  if (!queue.rate) return nullptr;
  return {{"per_second", static_cast<double>(queue.rate->per_million_seconds) / 1e6},
          {"burst", queue.rate->burst}};
}

}  // namespace allot::cli
