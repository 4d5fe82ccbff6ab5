// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "db/connection.h"
#include "queue/model/catalog.h"
#include "queue/model/rate.h"

// How much of a queue may run: a pause, a rate of starts, a cap.
namespace allot::queue {

// From now on no worker of any host leases a partition of this queue; a worker that has one
// continues until its block_seconds are over. For a paused queue only the reason changes, not the
// time.
void pause(db::Connection& db, const QueueInfo& queue, std::string_view reason);
// False: the queue was not paused.
bool resume(db::Connection& db, const QueueInfo& queue);

// Reads an operator's input. Throws Error(kExitBadInput) that names the field.
[[nodiscard]] Rate read_rate(std::string_view per_second, std::string_view burst);

// From now on tasks of the queue start at this rate, over all hosts; a worker that has a partition
// continues until its block_seconds are over. False: the rate was the same, and nothing changed.
bool set_rate(db::Connection& db, const QueueInfo& queue, const Rate& rate);
// False: the queue had no rate.
bool remove_rate(db::Connection& db, const QueueInfo& queue);

// The statements of these two, for callers that write more in the same transaction.
[[nodiscard]] db::Statement set_rate_statement(const QueueInfo& queue, const Rate& rate);
[[nodiscard]] db::Statement remove_rate_statement(const QueueInfo& queue);

inline constexpr std::uint32_t kMaxCap = 65'536;

// Limits the tasks of a queue that run at a time in the whole cluster (S51). Applies to each lease
// from now on; earlier leases end first. 0: no limit. Throws Error(kExitBadInput) if the queue is
// not spread.
void set_cap(db::Connection& db, const QueueInfo& queue, std::uint32_t cap);

// Statement of set_cap(), for callers that write more in the same transaction.
[[nodiscard]] db::Statement set_cap_statement(const QueueInfo& queue, std::uint32_t cap);

}  // namespace allot::queue
