// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/bulk_work.h"

#include <algorithm>
#include <utility>

#include "queue/model/error_text.h"
#include "queue/model/statements.h"
#include "queue/operate/dead_tasks.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

using std::chrono::microseconds;

constexpr std::uint32_t kExaminedAtOnce = 1000;  // dead tasks per batch
constexpr std::uint32_t kPurgedAtOnce = 1000;
constexpr std::uint64_t kKeptActions = 10'000;  // newest actions
// How long a batch is left to other processes that work on the same tasks.
constexpr microseconds kLeftToOthers = std::chrono::milliseconds(100);

// Without a rate, as many tasks as one transaction takes; with one, the tasks of a tenth of a
// second.
std::size_t batch_of(std::uint32_t rate) {
  return rate == 0 ? kDeadBatch : std::clamp<std::size_t>(rate / 10, 1, kDeadBatch);
}

// The next batch, from one read.
struct BulkBatch {
  std::vector<TaskId> tasks;
  TaskId examined_to;  // the batch after it begins after this one
  bool last = false;   // there is none
};

BulkBatch next_batch(db::Connection& db, const BulkAction& action) {
  BulkBatch batch;
  batch.examined_to = action.after;
  const auto page = page_dead(db, action.queue_id, action.after, kExaminedAtOnce);
  for (const DeadLetter& letter : page) {
    if (batch.tasks.size() == batch_of(action.rate)) return batch;
    if (is_chosen(action.filter, action.died_until_us, letter)) {
      batch.tasks.push_back(letter.id);
    }
    batch.examined_to = letter.id;
  }
  batch.last = page.size() < kExaminedAtOnce;
  return batch;
}

// The packet: guards, the new progress of the action, and its work.
class BulkPacket {
 public:
  BulkPacket(db::Connection& db, const BulkAction& action, const BulkBatch& batch)
      : kind_(action.kind), keys_(by_partition(batch.tasks)) {
    db::Statement& require = fixed_.emplace_back(sql::k_require_bulk);
    require.set("action_id", action.action_id).set("batches", action.batches);
    for (const auto& [partition, keys] : keys_) {
      db::Statement& dead = fixed_.emplace_back(sql::k_require_dead);
      set_partition(dead, partition)
          .set_raw("first_keys", key_condition("first_key", keys))
          .set("tasks", keys.size())
          .set("until_us", action.died_until_us);
    }
    const std::uint64_t gap_us =
        action.rate == 0 ? 0 : std::uint64_t{1'000'000} * batch.tasks.size() / action.rate;
    db::Statement& advance = fixed_.emplace_back(sql::k_advance_bulk);
    advance.set("action_id", action.action_id)
        .set("last", batch.last)
        .set("tasks", batch.tasks.size())
        .set("partition_no", batch.examined_to.partition.partition_no)
        .set("prio", batch.examined_to.prio)
        .set("first_key", batch.examined_to.first_key)
        .set("gap_us", gap_us);
    if (kind_ != BulkKind::kRetryDead) return;
    // The packet is refused if the places of retried tasks change before it is sent.
    for (const auto& [partition, keys] : keys_) {
      for (DeadTarget& target : targets_of(db, partition, keys)) {
        targets_.push_back(std::move(target));
      }
    }
  }

  void send(db::Connection& db) const {
    send_salted([&](std::uint32_t /*salt*/) {
      std::vector<db::Statement> all = fixed_;
      for (const DeadTarget& target : targets_) {
        for (db::Statement& one : retry_statements(target, salt())) all.push_back(std::move(one));
      }
      if (kind_ == BulkKind::kDiscardDead) {
        for (const auto& [partition, keys] : keys_) {
          all.push_back(discard_statement(partition, keys));
        }
      }
      return db.transact(all).size();
    });
  }

  [[nodiscard]] MovedIds moved() const {
    MovedIds moved;
    for (const DeadTarget& target : targets_) note_moved(target, moved);
    return moved;
  }

 private:
  BulkKind kind_;
  DeadKeys keys_;
  std::vector<db::Statement> fixed_;
  std::vector<DeadTarget> targets_;
};

BulkStep make_batch(db::Connection& db, const BulkAction& action) {
  const BulkBatch batch = next_batch(db, action);
  const BulkPacket packet(db, action, batch);
  packet.send(db);
  BulkStep step;
  step.open = !batch.last;
  step.queue_id = action.queue_id;
  if (action.kind == BulkKind::kRetryDead) step.put_back = batch.tasks.size();
  step.moved = packet.moved();
  return step;
}

BulkStep fail_bulk(db::Connection& db, const BulkAction& action, const std::string& error) {
  db::Statement fail(sql::k_fail_bulk);
  fail.set("action_id", action.action_id)
      .set("batches", action.batches)
      .set("error", error_text(error, kMostBulkText));
  BulkStep step;
  step.failed = db.run({fail}).front().affected() > 0;
  step.open = !step.failed;  // another process made the batch
  step.error = error;
  return step;
}

// Any other process that tries this batch gets the same error.
bool is_lasting(const db::DbError& error) {
  return error.error_class() == db::ErrorClass::kRefused ||
         error.error_class() == db::ErrorClass::kFatal;
}

}  // namespace

BulkStep work_bulk(db::Connection& db, std::uint64_t action_id) {
  for (int tries = 1; tries <= kSaltTries; ++tries) {
    const auto action = find_bulk(db, action_id);
    if (!action || !is_open(action->state)) return {};
    if (action->wait.count() > 0) return {.open = true, .wait = action->wait};
    try {
      return make_batch(db, *action);
    } catch (const db::DbError& error) {
      // The action, a task or the queue's layout has changed since it was read.
      if (error.number() == kOutOfRange) continue;
      if (!is_lasting(error)) throw;
      return fail_bulk(db, *action, error.what());
    } catch (const Error& error) {
      return fail_bulk(db, *action, error.what());
    }
  }
  return {.open = true, .wait = kLeftToOthers};
}

std::vector<OpenBulk> open_bulk(db::Connection& db) {
  db::Statement open(sql::k_open_bulk);
  open.set("limit", kMostOpenBulk);
  return db.read_all(open, [](const db::Row& row) {
    return OpenBulk{row.u64(0), microseconds(row.u64(1))};
  });
}

bool purge_bulk(db::Connection& db) {
  const auto newest = list_bulk(db, UINT64_MAX, 1);
  const std::uint64_t last = newest.empty() ? 0 : newest.front().action_id;
  db::Statement purge(sql::k_purge_bulk);
  purge.set("last_number", last - std::min(last, kKeptActions)).set("limit", kPurgedAtOnce);
  const auto results = db.run({purge});
  return results.at(0).affected() + results.at(1).affected() >= kPurgedAtOnce;
}

}  // namespace allot::queue
