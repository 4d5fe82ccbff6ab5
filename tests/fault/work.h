// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fault/draw.h"

namespace allot::fault {

// A task of a swarm as it is submitted. Pure: a draw and its tag say all of it, so that the checker
// knows what was promised for it.
struct WorkItem {
  std::string tag;
  std::string queue;
  std::string type;
  std::string verb;  // swarm_plugin.cc
  unsigned milliseconds = 0;
  std::optional<unsigned> prio{};
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds expires_in{0};  // 0: never
  std::string unique_key{};
  std::string partition_key{};

  [[nodiscard]] std::string ndjson() const;
};

WorkItem item_of(const Draw& draw, unsigned submitter, std::uint64_t number);
// nullopt: the tag is none of a submitter's.
std::optional<WorkItem> item_of(const Draw& draw, const std::string& tag);

// The submitter of tasks that only have to start soon, and of no other kind.
inline constexpr unsigned kProbes = 99;
// What a submitter adds to its number for the tags of the tasks that one of its tasks put in its
// place.
inline constexpr unsigned kChildren[] = {100, 200};
// The submitter of the tags of the tasks of hooks.
inline constexpr unsigned kHooks = 900;
// The tag of a hook's task.
std::string hook_tag(const std::string& id);

}  // namespace allot::fault
