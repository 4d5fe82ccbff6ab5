// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Maps a path to a resource. Pure.
namespace allot::gateway::fireworq {

enum class Place {
  kNone,  // unknown path
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
  std::optional<std::uint64_t> id{};  // of the job; nullopt: not a whole number
  std::string moved{};                // kMoved: the path without "//", "/./" and "/../", escaped
};

// Decodes escapes first, so an escaped slash is a slash. A "+" remains a plus.
[[nodiscard]] Target target_of(std::string_view path);

// The first value of a query parameter; nullopt: missing.
[[nodiscard]] std::optional<std::string> parameter(std::string_view query, std::string_view name);

}  // namespace allot::gateway::fireworq
