// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/sources/context.h"

namespace allot::cli {

struct WhyOptions {
  std::string id;
  bool json = false;
};

// allot why ID says in words why a task is not running, or where it is.
int why(const Context& context, const WhyOptions& options);

struct CancelOptions {
  std::string id;
  std::string reason;
  bool as_done = false;
  bool json = false;
};

// allot task cancel ID makes a waiting task a dead or finished one, and asks for the end of a
// running one.
int cancel_task(const Context& context, const CancelOptions& options);

}  // namespace allot::cli
