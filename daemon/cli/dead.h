// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/context.h"

namespace allot::cli {

struct DeadListOptions {
  std::string queue;  // empty: all
  std::uint32_t limit = 50;
  bool json = false;
};

// allot dead list: the newest first, `limit` of each queue.
int list_dead(const Context& context, const DeadListOptions& options);

// allot dead groups: how many there are of each type, cause and error pattern; the `limit` largest
// groups of each queue.
int dead_groups(const Context& context, const DeadListOptions& options);

// Which dead tasks: by ids, by a group, or all of a queue. The command line sees to it that it is
// one of the three.
struct DeadChoice {
  std::vector<std::string> ids;
  std::string group;
  std::string queue;  // of the group (empty: any), or of `all`
  bool all = false;
  std::uint32_t rate = 0;  // tasks per second at most; 0: as fast as it goes
  bool yes = false;        // more than the named ones, without being asked
  bool json = false;
};

// allot dead retry, allot dead discard.
int retry_dead(const Context& context, const DeadChoice& choice);
int discard_dead(const Context& context, const DeadChoice& choice);

}  // namespace allot::cli
