// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schedule/calendar.h"

namespace allot::schedule {

inline constexpr const char* kZoneFolder = "/usr/share/zoneinfo";

// Throws an Error unless the folder has a valid file for that zone. Call it first, because the C
// library silently uses UTC for a zone that it does not find or cannot read.
void check_zone(const std::string& name, const std::string& folder = kZoneFolder);

// A zone of the C library, which knows one zone at a time and keeps it in the environment. Must not
// be used in a process with threads; of two objects only the one made last is correct.
class SystemZone : public Zone {
 public:
  // Reads the zone's rules again, whatever was read before.
  explicit SystemZone(const std::string& name, const std::string& folder = kZoneFolder);
  [[nodiscard]] std::int64_t offset(Instant at) const override;
};

}  // namespace allot::schedule
