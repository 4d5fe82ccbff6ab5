// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"
#include "config/tree.h"

// The sections [schedules.NAME], of the configuration and of a file that contains only such
// sections.
namespace allot::config {

// Checks the required keys of each section, and rejects expressions that are invalid or never
// match. Called by complete().
void check_schedules(const Settings& settings, Problems& problems);

// Rejects zones that this host does not know. A program that only reads the configuration needs no
// zones, so only programs that check it call this.
void check_zones(const Settings& settings, Problems& problems);

// Checksum of the section: equal for equal words, whatever their layout, and also in a version that
// has more keys.
[[nodiscard]] std::uint64_t checksum(const Schedule& schedule);

// Reads a file that has only such sections. Only `schedules`, `file` and `lines` of the result are
// used. Throws Error(kExitNoInput) if it cannot be read, Error(kExitConfig) with each problem in
// the format of load().
[[nodiscard]] Settings read_schedules(const std::string& file);

// Throws Error(kExitConfig) with a line FILE:LINE: for each problem, in the order of the file.
[[noreturn]] void refuse(const std::string& file, Problems problems);

}  // namespace allot::config
