// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "db/connection.h"

namespace allot::db {

// Connection options from [database] in loaded settings. The host's memory of the servers is in the
// runtime folder of the instance.
[[nodiscard]] ConnectOptions from_settings(const config::Settings& settings);
// The same for another account, or without an instance: `runtime_dir` may be empty.
[[nodiscard]] ConnectOptions from_settings(const config::Database& settings,
                                           const std::string& runtime_dir);

// Options for the account of [wake], which reads the binary log and no database.
[[nodiscard]] ConnectOptions log_reader_from(const config::Settings& settings);

}  // namespace allot::db
