// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "db/error.h"

namespace allot::support {

// The DbError that `call` ends with; nullopt when it ends well.
template <typename Call>
[[nodiscard]] std::optional<db::DbError> db_error_of(Call call) {
  try {
    call();
    return std::nullopt;
  } catch (const db::DbError& error) {
    return error;
  }
}

// The same as its class's name, for one-line comparisons: "none" when the call ended well.
template <typename Call>
[[nodiscard]] std::string error_class_of(Call call) {
  const auto error = db_error_of(call);
  return error ? db::name_of(error->error_class()) : "none";
}

}  // namespace allot::support
