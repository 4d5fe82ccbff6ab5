// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cli/sources/context.h"

namespace allot::cli {

struct TasksOptions {
  std::string queue;         // empty: all
  std::uint32_t limit = 50;  // per queue
  bool json = false;
};

// allot tasks shows the detached tasks of each queue, then the waiting ones by partition, class and
// key. dead.h lists the dead ones.
int tasks(const Context& context, const TasksOptions& options);

struct ShowOptions {
  std::string id;
  bool json = false;
  bool payload = false;  // the payload's bytes and nothing else
};

// allot task show ID.
int show_task(const Context& context, const ShowOptions& options);

struct FindOptions {
  std::string queue;
  std::string unique_key;
  bool json = false;
};

// allot task find QUEUE --unique-key KEY: which task has the key, and where it is.
int find_task(const Context& context, const FindOptions& options);

}  // namespace allot::cli
