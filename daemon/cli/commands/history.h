// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/sources/context.h"

namespace allot::cli {

struct HistoryOptions {
  std::string queue;  // empty: all
  std::string type;   // empty: all
  std::string after;  // a task: the next page
  std::uint32_t limit = 50;
  bool json = false;
};

// allot history shows finished tasks of queues that keep a history, the newest first.
int history(const Context& context, const HistoryOptions& options);

}  // namespace allot::cli
