// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fault/draw.h"
#include "fault/tags.h"

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

}  // namespace allot::fault
