// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "cli/sources/context.h"

namespace allot::cli {

struct TopOptions {
  std::chrono::microseconds interval = std::chrono::seconds(1);  // between two looks
  bool once = false;
  bool json = false;  // once
};

// allot top shows this host's workers from the slot table, with rates per second, until an
// interrupt or q; once where standard output is no terminal. It costs the database nothing.
int top(const Context& context, const TopOptions& options);

}  // namespace allot::cli
