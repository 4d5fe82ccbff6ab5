// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schedule/zone.h"

namespace allot::schedule {

inline constexpr const char* kZoneFolder = "/usr/share/zoneinfo";

// Throws an Error unless the folder has a sound file of that zone. The C library takes UTC in
// silence for a zone that it does not find or cannot read, so this has to be asked first.
void check_zone(const std::string& name, const std::string& folder = kZoneFolder);

// A zone by the C library, which knows one at a time and keeps it in the environment: a process
// with threads must not use this, and of two objects only the last one made is right.
class SystemZone : public Zone {
 public:
  // Reads the zone's rules anew, whatever was read before.
  explicit SystemZone(const std::string& name, const std::string& folder = kZoneFolder);
  [[nodiscard]] std::int64_t offset(Instant at) const override;
};

}  // namespace allot::schedule
