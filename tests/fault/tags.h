// SPDX-License-Identifier: Apache-2.0
// The tags of tasks that no submitter submitted. For the harness and for its plugin, neither of
// which links the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace allot::fault {

// The submitter of tasks that only have to start soon, and of no other kind.
inline constexpr unsigned kProbes = 99;
// What a submitter adds to its number for the tags of the tasks that one of its tasks put in its
// place.
inline constexpr unsigned kChildren[] = {100, 200};
// The submitter of the tags of the tasks of hooks.
inline constexpr unsigned kHooks = 900;

// A queue of that name has the tasks of a schedule of that name, whose payload is JSON, too.
inline constexpr const char* kTicks = "ticks";

// The type that routes of a draw take from the first queue, and the queue that gets it.
inline constexpr const char* kRoutedType = "swarm.plain";
inline constexpr const char* kAside = "aside";

inline std::string child_tag(const std::string& parent, unsigned more) {
  return std::to_string(std::stoul(parent) + more) + parent.substr(parent.find('.'));
}

// The payload of a hook's task is JSON without a tag, so that its tag is made of its id.
inline std::string hook_tag(std::string_view id) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return std::to_string(kHooks) + "." + std::to_string(hash % 1'000'000'000'000ULL);
}

}  // namespace allot::fault
