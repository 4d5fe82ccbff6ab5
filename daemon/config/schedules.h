// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "config/settings.h"
#include "config/tree.h"

// The sections [schedules.NAME], of the configuration and of a file that has nothing else.
namespace allot::config {

// What each section needs, and expressions that cannot be read or never come. complete() has called
// it.
void check_schedules(const Settings& settings, Problems& problems);

// Zones that this host does not know. A program that only reads the configuration needs none of
// them, so this is for those that check it.
void check_zones(const Settings& settings, Problems& problems);

// A number for what the section says: the same for the same words, whatever stands around them, and
// also in a version that knows more keys.
[[nodiscard]] std::uint64_t checksum(const Schedule& schedule);

// Reads a file that has only such sections. Of the result only `schedules`, `file` and `lines` mean
// anything. Throws Error(kExitNoInput) when it cannot be read, Error(kExitConfig) with each problem
// as load() has it.
[[nodiscard]] Settings read_schedules(const std::string& file);

// Where a key of a section stands, for problems: the line of the section where it has no such key.
[[nodiscard]] std::uint32_t line_of(const Settings& settings, const Schedule& schedule,
                                    const std::string& key);

// Throws Error(kExitConfig) with a line FILE:LINE: for each problem, in their order in the file.
[[noreturn]] void refuse(const std::string& file, Problems problems);

}  // namespace allot::config
