// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.h"

namespace allot::cli {

struct TasksOptions {
  std::string queue;         // empty: all
  std::uint32_t limit = 50;  // per queue
  bool json = false;
};

// allot tasks: waiting tasks of each queue, ordered by partition, class and key, after
// the detached ones. The dead ones are listed by dead.h.
int tasks(const Context& context, const TasksOptions& options);

struct ShowOptions {
  std::string id;
  bool json = false;
  bool payload = false;  // the payload's bytes and nothing else
};

// allot task show ID.
int show_task(const Context& context, const ShowOptions& options);

}  // namespace allot::cli
