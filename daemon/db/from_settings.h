// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/settings.h"
#include "db/connection.h"

namespace allot::db {

// How to connect, as [database] of loaded settings says.
[[nodiscard]] ConnectOptions from_settings(const config::Database& settings);

}  // namespace allot::db
