// SPDX-License-Identifier: Apache-2.0
#include "db/logged_tasks.h"

#include <mysql.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace allot::db {
namespace {

// Columns of the primary key of `task`.
constexpr std::size_t kQueueId = 0;
constexpr std::size_t kRunKey = 3;

class RowBytes {
 public:
  explicit RowBytes(std::string_view left) : left_(left) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::optional<std::string_view> take(std::uint64_t count) {
    if (count > left_.size()) return std::nullopt;
    const std::string_view taken = left_.substr(0, static_cast<std::size_t>(count));
    left_.remove_prefix(taken.size());
    return taken;
  }
  // Little-endian.
  std::optional<std::uint64_t> number(std::size_t count) {
    const auto bytes = take(count);
    if (!bytes) return std::nullopt;
    std::uint64_t number = 0;
    for (std::size_t i = bytes->size(); i-- > 0;) {
      number = number << 8 | static_cast<unsigned char>((*bytes)[i]);
    }
    return number;
  }
  // Skips a length and that many bytes.
  std::optional<std::uint64_t> skip_text(std::size_t length_bytes) {
    const auto length = number(length_bytes);
    if (!length || !take(*length)) return std::nullopt;
    return 0;
  }

 private:
  std::string_view left_;
};

bool has_bit(std::string_view bits, std::size_t at) {
  if (at / 8 >= bits.size()) return false;
  const unsigned byte = static_cast<unsigned char>(bits[at / 8]);
  return (byte >> (at % 8) & 1U) != 0;
}

std::size_t metadata_bytes(unsigned char type) {
  if (type == MYSQL_TYPE_VARCHAR) return 2;
  return type == MYSQL_TYPE_BLOB || type == MYSQL_TYPE_DATETIME2 ? 1 : 0;
}

// Only knows types that `task` uses.
std::optional<std::uint64_t> read_value(RowBytes& row, unsigned char type, std::uint64_t metadata) {
  switch (type) {
    case MYSQL_TYPE_TINY:
      return row.number(1);
    case MYSQL_TYPE_SHORT:
      return row.number(2);
    case MYSQL_TYPE_LONG:
      return row.number(4);
    case MYSQL_TYPE_LONGLONG:
      return row.number(8);
    case MYSQL_TYPE_DATETIME2:
      if (!row.take(5 + (metadata + 1) / 2)) return std::nullopt;
      return 0;
    case MYSQL_TYPE_VARCHAR:
      return row.skip_text(metadata > 255 ? 2 : 1);
    case MYSQL_TYPE_BLOB:
      return row.skip_text(static_cast<std::size_t>(std::min<std::uint64_t>(metadata, 4)));
    default:
      return std::nullopt;
  }
}

std::size_t count_present(const LoggedColumns& columns, std::string_view present) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < columns.types.size(); ++at) count += has_bit(present, at) ? 1U : 0U;
  return count;
}

std::optional<LoggedTask> read_row(RowBytes& row, const LoggedColumns& columns,
                                   std::string_view present) {
  const auto nulls = row.take((count_present(columns, present) + 7) / 8);
  if (!nulls) return std::nullopt;
  LoggedTask task;
  RowBytes metadata(columns.metadata);
  std::size_t place = 0;  // index among the columns that are present
  for (std::size_t at = 0; at < columns.types.size(); ++at) {
    const auto type = static_cast<unsigned char>(columns.types[at]);
    const auto more = metadata.number(metadata_bytes(type));
    if (!more) return std::nullopt;
    if (!has_bit(present, at) || has_bit(*nulls, place++)) continue;
    const auto value = read_value(row, type, *more);
    if (!value) return std::nullopt;
    if (at == kQueueId) task.queue_id = static_cast<std::uint32_t>(*value);
    if (at == kRunKey) task.run_key = *value;
  }
  return task;
}

}  // namespace

std::optional<std::vector<LoggedTask>> logged_tasks(const LoggedColumns& columns,
                                                    std::string_view present, std::string_view rows,
                                                    std::optional<std::string_view> after) {
  if (!has_bit(present, kQueueId) || !has_bit(present, kRunKey)) return std::nullopt;
  std::vector<LoggedTask> tasks;
  if (after && !has_bit(*after, kRunKey)) return tasks;  // unchanged columns may be left out
  for (RowBytes left(rows); !left.empty();) {
    auto task = read_row(left, columns, present);
    if (!task) return std::nullopt;
    if (after) {
      const auto now = read_row(left, columns, *after);
      if (!now) return std::nullopt;
      task->former_key = std::exchange(task->run_key, now->run_key);
    }
    if (task->former_key != task->run_key) tasks.push_back(*task);
  }
  return tasks;
}

}  // namespace allot::db
