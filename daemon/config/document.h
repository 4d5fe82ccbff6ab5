// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// What is written from the rows of settings.def: a test fails when the files in the repository
// differ.
namespace allot::config {

// etc/allot.toml: every key, commented out, with its default.
[[nodiscard]] std::string example_file();

// docs/configuration.md with the tables between its two marker lines made new. Throws Error when
// the markers are missing.
[[nodiscard]] std::string renewed_page(const std::string& page);

}  // namespace allot::config
