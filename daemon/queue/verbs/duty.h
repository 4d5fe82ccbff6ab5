// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "db/connection.h"

namespace allot::queue {

// A duty of a queue that one worker at a time does for all. True: the caller has it for that time.
// Nobody gives a duty back, so a worker that dies delays it by that time.
void make_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty);
bool take_duty(db::Connection& db, std::uint32_t queue_id, std::string_view duty,
               std::chrono::microseconds for_so_long);

}  // namespace allot::queue
