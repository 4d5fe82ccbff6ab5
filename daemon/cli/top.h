// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "cli/context.h"

namespace allot::cli {

struct TopOptions {
  std::chrono::microseconds interval = std::chrono::seconds(1);  // between two looks
  bool once = false;
  bool json = false;  // once
};

// allot top: this host's workers from the slot table, with rates per second, until it is
// interrupted or q is typed; once where standard output is no terminal. Costs the database nothing.
int top(const Context& context, const TopOptions& options);

}  // namespace allot::cli
