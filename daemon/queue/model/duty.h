// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <set>
#include <string>

namespace allot::queue {

// Work that one host at a time does for a queue or, with queue_id 0, for the cluster.
struct DutyName {
  std::uint32_t queue_id = 0;
  std::string name;

  std::strong_ordering operator<=>(const DutyName&) const = default;
};
// In the order in which statements lock them.
using DutyNames = std::set<DutyName>;

// A duty without work: its row says whether a viewer shows workers. The host that leads the minutes
// leads it, and a viewer takes it away for a term, so that stewards notice it in statements that
// they send anyway.
inline constexpr const char* kViewersDuty = "viewers";  // of the cluster
inline constexpr const char* kMinutesDuty = "minutes";  // likewise

// Duration of a term without a renewal; the same for all hosts.
inline constexpr std::chrono::seconds kDutyTtl{5};

}  // namespace allot::queue
