// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/roff.h"

// Documents generated from the rows of settings.def: a test fails if the files in the repository
// differ. The build makes the manual page.
namespace allot::config {

// etc/allot.toml: every key, commented out, with its default.
[[nodiscard]] std::string example_file();

// docs/configuration.md with new tables between its two marker lines. Empty if the markers are
// missing.
[[nodiscard]] std::string renewed_page(const std::string& page);

// The manual page allot.toml(5).
[[nodiscard]] std::string settings_manual(const Edition& edition);

}  // namespace allot::config
