// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"

// The settings in force and where they came from, for `allot config`.
namespace allot::config {

struct Effective {
  std::string section;     // "database", "queues.mail"
  std::string key;         // one part, or several joined by dots in a plugin's section
  std::string value;       // as it stands in a file, which is JSON too; passwords are "***"
  std::uint32_t line = 0;  // in Settings::file; 0: not from there
  std::string origin{};    // "--embedded", "$RUNTIME_DIRECTORY", "every queue"; empty with line 0:
                           // a default
};

// Section by section in the order of settings.def; queues, pools and plugins in their own order.
// Keys without effect (host beside a socket) are left out. `settings` come from load().
[[nodiscard]] std::vector<Effective> effective(const Settings& settings);

}  // namespace allot::config
