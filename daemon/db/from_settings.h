// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "db/connection.h"

namespace allot::db {

// The connection options of [database] in loaded settings.
[[nodiscard]] ConnectOptions from_settings(const config::Database& settings);

}  // namespace allot::db
