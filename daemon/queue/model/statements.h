// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/error.h"
#include "db/statement.h"
#include "db/transaction.h"
#include "queue/model/fence.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"

// Helpers by which the stores of this folder fill their statements. Not for other folders.
namespace allot::queue {

// The value of an enum whose words these are, in its order.
template <typename Enum, std::size_t n>
[[nodiscard]] std::optional<Enum> value_of(const std::array<std::string_view, n>& words,
                                           std::string_view word) {
  const auto* const at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return std::nullopt;
  return static_cast<Enum>(at - words.begin());
}

inline db::Statement& set_partition(db::Statement& statement, Partition partition) {
  return statement.set("queue_id", partition.queue_id).set("partition_no", partition.partition_no);
}

inline db::Statement& set_id(db::Statement& statement, const TaskId& id) {
  return set_partition(statement, id.partition).set("prio", id.prio).set("first_key", id.first_key);
}

inline db::Statement& set_fence(db::Statement& statement, const Lease& lease) {
  return set_partition(statement, lease.partition)
      .set("epoch", lease.epoch)
      .set("holder", lease.holder);
}

inline db::Statement& set_fence(db::Statement& statement, const Fence& fence) {
  return set_partition(statement, fence.id.partition)
      .set("epoch", fence.epoch)
      .set("holder", fence.holder);
}

inline db::Statement& set_holder(db::Statement& statement, const Holder& holder) {
  return statement.set("holder", holder.id)
      .set("origin", holder.origin)
      .set("host", holder.host)
      .set("instance", holder.instance)
      .set("pid", holder.pid);
}

// Fills in the fence, and the key of the row where the task is.
inline db::Statement& set_row(db::Statement& statement, const Fence& fence) {
  set_fence(statement, fence).set("prio", fence.id.prio);
  return fence.detached() ? statement.set("first_key", fence.id.first_key)
                          : statement.set("run_key", fence.run_key);
}

db::Statement& set_usage(db::Statement& statement, const Usage& usage);

// "1,2,3".
template <typename Numbers>
[[nodiscard]] std::string number_list(const Numbers& numbers) {
  return db::joined(numbers, [](auto number) { return std::to_string(number); });
}

// The same, or NULL for none.
std::string id_list(std::span<const std::uint32_t> ids);

// Byte strings for an IN; at least one.
std::string bytes_list(std::span<const std::string> values);

// "prio = 0 AND run_key IN (1,2) OR prio = 1 AND run_key IN (3)"; run_key is the name `key`.
std::string key_condition(std::string_view key, std::span<const TaskKey> keys);

// A pause that begins now, by the holder's time.
db::Statement& set_delay(db::Statement& statement, std::chrono::microseconds delay,
                         const HolderTime& time);

// "2026-11-22T05:00:00.000000Z" in a form that every database version reads.
std::string datetime_text(std::string text);
inline constexpr const char* kEndOfTime = "9999-12-31 23:59:59";
// Microseconds, from 0 to a century.
std::int64_t bounded_us(std::chrono::microseconds delay);

// The error of require_task.sql, require_detached.sql and placed_queue.sql.
inline constexpr unsigned kOutOfRange = 1690;
[[nodiscard]] inline bool is_out_of_range(const db::DbError& error) {
  return error.number() == kOutOfRange;
}

inline constexpr int kSaltTries = 8;

// Distinguishes keys of the same microsecond; another number for each statement.
std::uint32_t salt();

// Sends statements that give a new key; retries with another salt while the key is taken.
template <typename Send>
auto send_salted(Send&& send) {
  const auto taken = [](const db::DbError& error) {
    return error.error_class() == db::ErrorClass::kDuplicate;
  };
  return db::repeat(kSaltTries, taken, [&] { return send(salt()); });
}

}  // namespace allot::queue
