// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"

namespace allot::cli {

// The options that every command has.
struct Context {
  config::LoadOptions load;
  remote::Options remote;
  std::string reason;  // of a command that operates: why, for people

  [[nodiscard]] config::Settings settings() const { return config::load(load); }
};

// A connection to the configured database, whose schema may be of any version or missing.
[[nodiscard]] db::Connection connect_any(const config::Settings& settings);

// The same, but the schema has to be of this build's version.
[[nodiscard]] db::Connection connect(const config::Settings& settings);

// The same for a command that operates: what it does is written down as done by this user (S89).
[[nodiscard]] db::Connection connect_as_operator(const Context& context,
                                                 const config::Settings& settings);

// Throws Error(kExitBadInput) for one that no column has room for.
void check_reason(const std::string& reason);

// "ann@host": the user of this process.
[[nodiscard]] std::string asked_by();

}  // namespace allot::cli
