// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "db/connection.h"

namespace allot::worker {

// Connects, and logs which servers of the list were passed over and why. Throws DbError.
[[nodiscard]] db::Connection connect(const db::ConnectOptions& options);

}  // namespace allot::worker
