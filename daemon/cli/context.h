// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "db/connection.h"

namespace allot::cli {

// What every command starts from: the options before and after its name.
struct Context {
  config::LoadOptions load;

  [[nodiscard]] config::Settings settings() const { return config::load(load); }
  // A connection to a database with the schema of this build.
  [[nodiscard]] static db::Connection connect(const config::Settings& settings);
};

// A text for a table: what is not printable is escaped, what is long is cut.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

// The member of `known` that was most likely meant, as "; did you mean 'x'?", or nothing.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& known);

}  // namespace allot::cli
