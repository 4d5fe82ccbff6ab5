// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"

// The settings in force and their origins, for `allot config`.
namespace allot::config {

struct Effective {
  std::string section;     // "database", "queues.mail"
  std::string key;         // one part, or several joined by dots in a plugin's section
  std::string value;       // as written in a file, which is valid JSON; passwords are "***"
  std::uint32_t line = 0;  // in Settings::file; 0: from another origin
  std::string origin{};    // "--embedded", "$RUNTIME_DIRECTORY", "every queue"; empty with line 0:
                           // a default
};

// Sections in the order of settings.def; queues, pools and plugins in their own order. Keys without
// effect (host next to a socket) are omitted. `settings` come from load().
[[nodiscard]] std::vector<Effective> effective(const Settings& settings);

}  // namespace allot::config
