// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "queue/fireworq/page.h"

// Reads targets of requests: a path names a resource, the query has parameters. Pure.
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
// The parameters of a list. Invalid ones count as absent.
[[nodiscard]] queue::ListAsk list_ask(std::string_view query);

[[nodiscard]] std::string cursor_text(const queue::ListPlace& place);
// nullopt: not a cursor.
[[nodiscard]] std::optional<queue::ListPlace> read_cursor(std::string_view text);

}  // namespace allot::gateway::fireworq
