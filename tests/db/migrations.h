// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "db/migrate.h"

namespace allot::db {

// The migrations of this build, followed by one of a possible later version.
constexpr auto followed_by(const sql::SqlText& next) {
  std::array<const sql::SqlText*, kMigrations.size() + 1> all{};
  for (std::size_t i = 0; i < kMigrations.size(); ++i) all[i] = kMigrations[i];
  all.back() = &next;
  return all;
}

}  // namespace allot::db
