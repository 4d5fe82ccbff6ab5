// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fault/draw.h"
#include "fault/tags.h"

namespace allot::fault {

// A task of a swarm as submitted. Pure: it is determined by a draw and its tag, so that the checker
// knows its promises.
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
// nullopt: the tag does not belong to a submitter.
std::optional<WorkItem> item_of(const Draw& draw, const std::string& tag);

}  // namespace allot::fault
