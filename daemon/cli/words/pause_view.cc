// SPDX-License-Identifier: Apache-2.0
#include "cli/words/pause_view.h"

#include "cli/words/text.h"

namespace allot::cli {

std::string pause_text(const queue::QueueInfo& queue) {
  if (!queue.paused) return {};
  const std::string& reason = queue.paused->reason;
  return "since " + queue.paused->at + (reason.empty() ? "" : ": " + printable(reason, 300));
}

}  // namespace allot::cli
