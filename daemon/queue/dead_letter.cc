// SPDX-License-Identifier: Apache-2.0
#include "queue/dead_letter.h"

#include <array>
#include <cctype>
#include <map>

#include "queue/cancel_request.h"
#include "queue/compression.h"
#include "queue/error_text.h"
#include "queue/placement.h"
#include "queue/random.h"
#include "queue/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kDeadPage = 1000;
constexpr std::size_t kMostPattern = 200;

// Bytes of UTF-8 sequences beyond ASCII are parts of words.
bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

// Where the text ends that the quote at `open` begins; npos when it begins no text ("can't").
std::size_t closing_quote(std::string_view line, std::size_t open) {
  const char quote = line[open];
  if (quote != '\'' && quote != '"' && quote != '`') return std::string_view::npos;
  if (open > 0 && in_word(line[open - 1])) return std::string_view::npos;
  return line.find(quote, open + 1);
}

std::string_view word_at(std::string_view line, std::size_t begin) {
  std::size_t end = begin;
  // 10.0.0.1:3306, host-3, 2026-11-21T05:00:00, 550e8400-e29b: characters that join two words also
  // join numbers.
  constexpr std::string_view kJoins = "-_.:/";
  while (end < line.size() &&
         (in_word(line[end]) || (end > begin && kJoins.find(line[end]) != std::string_view::npos &&
                                 end + 1 < line.size() && in_word(line[end + 1])))) {
    ++end;
  }
  return line.substr(begin, end - begin);
}

void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80) --most;
  text.resize(most);
}

// FNV-1a; std::hash may differ from build to build.
void mix(std::uint64_t& hash, std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  hash = (hash ^ 0xffU) * kPrime;  // no byte of UTF-8: ends the text
}

DeadLetter read_letter(const db::Row& row, std::uint32_t queue_id) {
  DeadLetter letter;
  letter.id.partition = {queue_id, static_cast<std::uint32_t>(row.u64(0))};
  letter.id.prio = static_cast<std::uint32_t>(row.u64(1));
  letter.id.first_key = row.u64(2);
  letter.type = row.text(3);
  letter.cause = row.text(4);
  letter.error = row.text(5);
  letter.died_at = row.text(6);
  return letter;
}

// The last statement of each transaction deletes the rows from task_dead.
template <typename Send>
std::uint64_t in_each_partition(std::span<const TaskId> ids, Send&& send) {
  std::map<Partition, std::vector<TaskKey>> partitions;
  for (const TaskId& id : ids) partitions[id.partition].push_back({id.prio, id.first_key});
  std::uint64_t sum = 0;
  for (const auto& [partition, keys] : partitions) sum += send(partition, keys);
  return sum;
}

// Dead tasks of one partition that go back into one partition.
struct DeadTarget {
  std::uint32_t to = 0;
  std::string placed_queue;  // the queue's number, or placed_queue.sql
  std::vector<TaskKey> keys;
};

// Whether the partition is one of the key: in a limited queue they start at the key's place.
bool has_place(const QueueInfo& queue, std::uint32_t key_hash, std::uint32_t partition_no) {
  for (std::uint32_t nth = 0; nth < queue.partitions(); ++nth) {
    if (place_of(queue, key_hash, nth) == partition_no) return true;
  }
  return false;
}

std::uint32_t target_of(const QueueInfo& queue, const db::Row& row, const TaskId& id) {
  const std::uint32_t stays = id.partition.partition_no;
  if (row.is_null(2)) {
    if (queue.layout == 0) return stays;
    throw Error("task " + id.text() + " was submitted without a partition key, and " + "queue '" +
                    queue.name + "' was resized since: submit it anew, and discard this one",
                kExitBadInput);
  }
  const auto key_hash = static_cast<std::uint32_t>(row.u64(2));
  if (has_place(queue, key_hash, stays)) return stays;
  return place_of(queue, key_hash, random_number<std::uint16_t>());
}

std::vector<DeadTarget> targets_of(db::Connection& db, Partition partition,
                                   const std::vector<TaskKey>& keys) {
  const auto queues = lock_layouts(db, {&partition.queue_id, 1});
  const auto at = queues.find(partition.queue_id);
  if (at == queues.end() || !at->second.alone()) {
    return {{partition.partition_no, std::to_string(partition.queue_id), keys}};
  }
  const QueueInfo& queue = at->second;
  db::Statement places(sql::k_dead_places);
  set_partition(places, partition).set_raw("first_keys", key_condition("first_key", keys));
  std::map<std::uint32_t, DeadTarget> targets;
  auto results = db.run({places});
  while (const auto row = results.front().next()) {
    const TaskKey key{static_cast<std::uint32_t>(row->u64(0)), row->u64(1)};
    const std::uint32_t to = target_of(queue, *row, {partition, key.prio, key.run_key});
    DeadTarget& target = targets[to];
    target.to = to;
    target.placed_queue = db::Statement(sql::k_placed_queue)
                              .set("queue_id", queue.queue_id)
                              .set("layout", queue.layout)
                              .render();
    target.keys.push_back(key);
  }
  std::vector<DeadTarget> list;
  for (auto& [to, target] : targets) list.push_back(std::move(target));
  return list;
}

std::uint64_t retry_to(db::Connection& db, Partition partition, const DeadTarget& target) {
  std::string ordered;
  for (const TaskKey& key : target.keys) {
    ordered += (ordered.empty() ? "" : ",") + std::to_string(key.run_key);
  }
  std::uint64_t count = 0;
  send_salted([&](std::uint32_t salt) {
    db::Statement retry(sql::k_retry_dead);
    set_partition(retry, partition)
        .set("to_partition_no", target.to)
        .set_raw("placed_queue", target.placed_queue)
        .set_raw("first_keys", key_condition("first_key", target.keys))
        .set_raw("ordered_keys", ordered)
        .set("kept_flags", kCompressedFlags | kCompressibleFlag | kHookFlag)
        .set("salt", salt);
    // Clears requests of an earlier life first, because they would end this one.
    const std::array<db::Statement, 2> statements{clear_cancel_statement(partition, target.keys),
                                                  retry};
    count = db.transact(statements).back().affected();
    return Fenced::kWritten;
  });
  return count;
}

std::uint64_t retry_in(db::Connection& db, Partition partition, const std::vector<TaskKey>& keys,
                       MovedIds* moved) {
  std::uint64_t sum = 0;
  for (const DeadTarget& target : targets_of(db, partition, keys)) {
    sum += retry_to(db, partition, target);
    if (moved == nullptr || target.to == partition.partition_no) continue;
    for (const TaskKey& key : target.keys) {
      const Partition to{partition.queue_id, target.to};
      moved->push_back({{partition, key.prio, key.run_key}, {to, key.prio, key.run_key}});
    }
  }
  return sum;
}

}  // namespace

std::string error_pattern(std::string_view error) {
  const std::size_t begin = std::min(error.find_first_not_of(" \t\r\n"), error.size());
  const std::string_view line = error.substr(begin, error.find('\n', begin) - begin);
  std::string pattern;
  for (std::size_t i = 0; i < line.size();) {
    if (const std::size_t close = closing_quote(line, i); close != std::string_view::npos) {
      pattern.append(1, line[i]).append("...").append(1, line[i]);
      i = close + 1;
    } else if (in_word(line[i])) {
      const std::string_view word = word_at(line, i);
      const bool number = word.find_first_of("0123456789") != std::string_view::npos;
      pattern += number ? "#" : word;
      i += word.size();
    } else {
      pattern += line[i++];
    }
  }
  cut(pattern, kMostPattern);
  return pattern;
}

std::string dead_group(std::string_view queue, const DeadLetter& letter) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view text :
       {queue, std::string_view(letter.type), std::string_view(letter.cause)}) {
    mix(hash, text);
  }
  mix(hash, error_pattern(letter.error));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string word;
  for (int shift = 60; shift >= 16; shift -= 4) word += kDigits[(hash >> shift) & 0xfU];
  return word;
}

void each_dead(db::Connection& db, const QueueInfo& queue,
               const std::function<bool(const DeadLetter&)>& look) {
  TaskId last;  // keys begin after 0
  for (;;) {
    db::Statement statement(sql::k_page_dead);
    set_partition(statement, {queue.queue_id, last.partition.partition_no})
        .set("prio", last.prio)
        .set("first_key", last.first_key)
        .set("most", kDeadPage);
    auto results = db.run({statement});
    while (const auto row = results.front().next()) {
      const DeadLetter letter = read_letter(*row, queue.queue_id);
      if (!look(letter)) return;
      last = letter.id;
    }
    if (results.front().row_count() < kDeadPage) return;
  }
}

std::uint64_t retry_dead(db::Connection& db, std::span<const TaskId> ids, MovedIds* moved) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    for (int tries = 1;; ++tries) {
      try {
        return retry_in(db, partition, keys, moved);
      } catch (const db::DbError& error) {
        // The queue was resized just now. Tasks that were retried before are not dead any more.
        if (error.number() != kOutOfRange || tries == kSaltTries) throw;
      }
    }
  });
}

std::uint64_t discard_dead(db::Connection& db, std::span<const TaskId> ids) {
  return in_each_partition(ids, [&](Partition partition, const std::vector<TaskKey>& keys) {
    db::Statement discard(sql::k_discard_dead);
    set_partition(discard, partition).set_raw("first_keys", key_condition("first_key", keys));
    return db.transact({&discard, 1}).back().affected();
  });
}

bool cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key, std::string_view reason) {
  db::Statement cancel(sql::k_cancel);
  set_partition(cancel, id.partition)
      .set("prio", id.prio)
      .set("run_key", run_key)
      .set("first_key", id.first_key)
      .set("cause", kCancelled)
      .set("error", error_text(reason));
  const TaskKey first_key{id.prio, id.first_key};
  const std::array<db::Statement, 3> statements{
      cancel, stamp_statement(id.partition, {&first_key, 1}, End::kDead),
      clear_cancel_statement(id.partition, {&first_key, 1})};
  const auto results = db.transact(statements);
  return results.at(results.size() - 3).affected() == 1;
}

}  // namespace allot::queue
