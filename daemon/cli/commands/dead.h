// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/sources/context.h"

namespace allot::cli {

struct DeadListOptions {
  std::string queue;  // empty: all
  std::uint32_t limit = 50;
  bool json = false;
};

// allot dead list shows the newest first, `limit` of each queue.
int list_dead(const Context& context, const DeadListOptions& options);

// allot dead groups counts the dead tasks of each type, cause and error pattern; it shows the
// `limit` largest groups of each queue.
int dead_groups(const Context& context, const DeadListOptions& options);

// Chooses dead tasks by ids, by a group, or all of a queue. The command line makes sure that it is
// exactly one of the three.
struct DeadChoice {
  std::vector<std::string> ids;
  std::string group;
  std::string queue;  // of the group (empty: any), or of `all`
  bool all = false;
  std::uint32_t rate = 0;  // tasks per second at most; 0: no limit
  bool yes = false;        // act on more than named tasks without asking
  bool json = false;
};

// allot dead retry, allot dead discard.
int retry_dead(const Context& context, const DeadChoice& choice);
int discard_dead(const Context& context, const DeadChoice& choice);

}  // namespace allot::cli
