// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.h"

namespace allot::cli {

struct TasksOptions {
  std::string queue;  // empty: all
  bool dead = false;
  std::uint32_t limit = 50;  // per queue
  bool json = false;
};

// allot tasks: waiting or dead tasks, in the order in which they would run.
int tasks(const Context& context, const TasksOptions& options);

// allot task show ID. With `payload` only the payload's bytes, on standard output.
int show_task(const Context& context, const std::string& id, bool json, bool payload);

}  // namespace allot::cli
