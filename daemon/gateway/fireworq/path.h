// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// What a path asks for. Pure.
namespace allot::gateway::fireworq {

enum class Place {
  kNone,  // there is nothing at this path
  kMoved,
  kVersion,
  kSettings,
  kStats,
  kQueues,
  kQueuesStats,
  kQueue,
  kNode,
  kQueueStats,
  kGrabbed,
  kWaiting,
  kDeferred,
  kJobOfQueue,
  kFailedList,
  kFailed,
  kRoutings,
  kRouting,
  kJob,
};

struct Target {
  Place place = Place::kNone;
  std::string name{};                 // of the queue or the category: any bytes
  std::optional<std::uint64_t> id{};  // of the job; none where it is no whole number
  std::string moved{};                // kMoved: the path without "//", "/./" and "/../", escaped
};

// Escapes are read first, so that an escaped slash is a slash. A "+" is one.
[[nodiscard]] std::string unescaped_path(std::string_view path);
[[nodiscard]] Target target_of(std::string_view path);

// The value of a parameter of a query, the first one; nullopt: there is none.
[[nodiscard]] std::optional<std::string> parameter(std::string_view query, std::string_view name);

}  // namespace allot::gateway::fireworq
