// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/remote/session.h"
#include "config/settings.h"
#include "db/connection.h"

namespace allot::cli {

// The options that every command has.
struct Context {
  config::LoadOptions load;
  remote::Options remote;

  [[nodiscard]] config::Settings settings() const { return config::load(load); }
};

// A connection to the configured database, whose schema may be of any version or missing.
[[nodiscard]] db::Connection connect_any(const config::Settings& settings);

// The same, but the schema has to be of this build's version.
[[nodiscard]] db::Connection connect(const config::Settings& settings);

}  // namespace allot::cli
