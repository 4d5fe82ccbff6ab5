// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "db/error.h"

namespace allot::support {

// The DbError thrown by `call`; nullopt if it succeeds.
template <typename Call>
[[nodiscard]] std::optional<db::DbError> db_error_of(Call call) {
  try {
    call();
    return std::nullopt;
  } catch (const db::DbError& error) {
    return error;
  }
}

// The name of its class, for one-line comparisons: "none" if the call succeeded.
template <typename Call>
[[nodiscard]] std::string error_class_of(Call call) {
  const auto error = db_error_of(call);
  return error ? db::name_of(error->error_class()) : "none";
}

}  // namespace allot::support
