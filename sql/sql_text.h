// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace allot::sql {

// One .sql file: its name without ending, and its text. Placeholders are :name; db/statement.h
// fills them in. A file may hold several statements, which are sent in one trip.
struct SqlText {
  std::string_view name;
  std::string_view text;
};

}  // namespace allot::sql
