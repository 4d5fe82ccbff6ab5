// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/context.h"

// What changes a queue while the daemons run and tasks wait.
namespace allot::cli {

struct ResizeOptions {
  std::string queue;
  std::uint32_t partitions = 0;
  bool yes = false;
  bool json = false;
};

// allot queue resize QUEUE N: tasks that are submitted from now on go to N partitions. In an
// ordered or limited queue they wait for those that are there.
int resize_queue(const Context& context, const ResizeOptions& options);

struct MoveOptions {
  std::string from;
  std::string to;
  std::string type;        // empty: all
  std::uint32_t rate = 0;  // per second; 0: no limit
  bool yes = false;
  bool json = false;
};

// allot queue move FROM TO: waiting tasks go to another queue. Exit code 1: some stay, because a
// worker had their partition.
int move_tasks(const Context& context, const MoveOptions& options);

}  // namespace allot::cli
