// SPDX-License-Identifier: Apache-2.0
// Tags of tasks without a submitter. For the harness and for its plugin, neither of which links the
// other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::fault {

// Submitter number of tasks that only have to start soon.
inline constexpr unsigned kProbes = 99;
// Added to a submitter's number for the tags of replacement tasks.
inline constexpr unsigned kChildren[] = {100, 200};
// Submitter number in the tags of hooks' tasks.
inline constexpr unsigned kHooks = 900;

// Queue with the tasks of a schedule of the same name, whose payload is JSON, too.
inline constexpr const char* kTicks = "ticks";

// Type that routes of a draw take from the first queue, and the queue that receives it.
inline constexpr const char* kRoutedType = "swarm.plain";
inline constexpr const char* kAside = "aside";

inline std::string child_tag(const std::string& parent, unsigned more) {
  return std::to_string(std::stoul(parent) + more) + parent.substr(parent.find('.'));
}

// The payload of a hook's task is JSON without a tag, so its tag is derived from its id.
inline std::string hook_tag(std::string_view id) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return std::to_string(kHooks) + "." + std::to_string(hash % 1'000'000'000'000ULL);
}

}  // namespace allot::fault
