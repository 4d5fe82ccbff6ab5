// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/sources/context.h"

// Commands that change a queue while the daemons run and tasks wait.
namespace allot::cli {

struct ResizeOptions {
  std::string queue;
  std::uint32_t partitions = 0;
  bool yes = false;
  bool json = false;
};

// allot queue resize QUEUE N: new tasks go to N partitions from now on. In an ordered or limited
// queue they wait for the earlier ones.
int resize_queue(const Context& context, const ResizeOptions& options);

struct MoveOptions {
  std::string from;
  std::string to;
  std::string type;        // empty: all
  std::uint32_t rate = 0;  // per second; 0: no limit
  bool yes = false;
  bool json = false;
};

// allot queue move FROM TO moves waiting tasks to another queue. Exit code 1: some stay, because a
// worker had their partition.
int move_tasks(const Context& context, const MoveOptions& options);

}  // namespace allot::cli
