// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/resize.h"

#include <algorithm>
#include <vector>

#include "db/transaction.h"
#include "queue/model/audit.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kMostPartitionNo = UINT16_MAX;

// The new partitions get numbers before the current ones if there is room, otherwise after them:
// lease rows are never deleted, so a later resize can use their numbers again.
std::uint32_t first_of_next(const QueueInfo& queue, std::uint32_t partitions) {
  if (partitions <= queue.first_partition) return 0;
  return queue.first_partition + queue.partitions();
}

[[noreturn]] void refuse(const QueueInfo& queue, const std::string& why) {
  throw Error("queue '" + queue.name + "' " + why, kExitFailure);
}

[[noreturn]] void refuse_while_resized(const QueueInfo& queue, std::uint64_t partitions) {
  refuse(queue,
         "is being resized to " + std::to_string(partitions) +
             " partitions: tasks of its former layout wait or run; try again when it is done");
}

Action resize_action(const QueueInfo& queue, std::uint32_t partitions) {
  return {"resize", "queue", queue.name, found_plain(queue.name),
          std::to_string(partitions) + " partitions"};
}

// Within the open transaction.
void write_entry(db::Connection& db, const Action& action) {
  if (const auto entry = entry_of(db, action)) db.run({*entry});
}

struct LockedLayout {
  std::uint64_t partitions = 0;
  std::uint64_t layout = 0;
  bool resizing = false;
};

// Locks the queue's row.
LockedLayout begin_layout(db::Connection& db, const QueueInfo& queue) {
  db::Statement begin(sql::k_begin_layout);
  begin.set("queue_id", queue.queue_id);
  auto results = db.run({begin});
  const auto now = results.front().next();
  if (!now) refuse(queue, "no longer exists");
  return {now->u64(0), now->u64(2), now->u64(3) != 0};
}

// Runs under the lock of the queue's row. False: the queue was resized since `queue` was read.
bool resize_locked(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions) {
  const LockedLayout now = begin_layout(db, queue);
  if (now.partitions == partitions) return true;
  if (now.resizing) refuse_while_resized(queue, now.partitions);
  if (now.layout != queue.layout) return false;

  const std::uint32_t first = first_of_next(queue, partitions);
  const std::uint32_t layout = queue.layout + 1;
  db::Statement defer(sql::k_defer_layout);
  defer.set("queue_id", queue.queue_id)
      .set("first_partition", first)
      .set("partitions", partitions)
      .set("layout", layout);
  if (db.run({defer}).front().affected() != partitions) {
    refuse(queue, "has partitions of an earlier layout that are in use; try again");
  }
  db::Statement resize(sql::k_resize_layout);
  resize.set("queue_id", queue.queue_id)
      .set("first_partition", first)
      .set("partitions", partitions)
      .set("layout", layout);
  db.run({resize});
  write_entry(db, resize_action(queue, partitions));
  return true;
}

// Runs under the lock of the queue's row. The waiting partitions of a resize name their layout,
// which must therefore stay until they are released.
void set_max_running_locked(db::Connection& db, const QueueInfo& queue, std::uint32_t max_running) {
  const LockedLayout now = begin_layout(db, queue);
  if (now.resizing) refuse_while_resized(queue, now.partitions);
  if (max_running > now.partitions) {
    throw Error("max_running " + std::to_string(max_running) + ": queue '" + queue.name + "' has " +
                    std::to_string(now.partitions) +
                    " partitions, so it cannot run more tasks of a key",
                kExitBadInput);
  }
  db::Statement resize(sql::k_resize_running);
  resize.set("queue_id", queue.queue_id).set("max_running", max_running);
  db.run({resize});
  write_entry(db, {"set_max_running", "queue", queue.name, found_plain(queue.name),
                   std::to_string(max_running) + " at a time"});
}

// A transaction that submitted to the queue makes the change wait.
template <typename Change>
void or_refuse_open(const QueueInfo& queue, const Change& change) {
  try {
    change();
  } catch (const db::DbError& error) {
    if (!db::is_retryable(error)) throw;
    refuse(queue,
           "was not resized: a transaction that submitted to it is still open; try again when it "
           "has ended");
  }
}

}  // namespace

void resize(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions) {
  make_partitions(db, queue.queue_id, partitions);
  db::Statement statement(sql::k_resize_queue);
  statement.set("queue_id", queue.queue_id).set("partitions", partitions);
  or_refuse_open(queue, [&] { act(db, resize_action(queue, partitions), {&statement, 1}); });
}

Resized resize_layout(db::Connection& db, const QueueInfo& queue, std::uint32_t partitions) {
  QueueInfo now = queue;
  lift_layouts(db, {&now.queue_id, 1});
  for (;;) {
    if (now.partitions() != partitions) {
      const std::uint32_t end = first_of_next(now, partitions) + partitions;
      if (end > kMostPartitionNo) refuse(now, "has not enough partition numbers left");
      make_partitions(db, now.queue_id, end);
    }
    bool resized = false;
    or_refuse_open(now, [&] {
      db::in_transaction(db, [&] { resized = resize_locked(db, now, partitions); });
    });
    if (resized) {
      lift_layouts(db, {&now.queue_id, 1});
      return find_listed(db, now.queue_id).resizing ? Resized::kWaits : Resized::kDone;
    }
    now = lock_layouts(db, {&now.queue_id, 1}).at(now.queue_id);
  }
}

void set_max_running(db::Connection& db, const QueueInfo& queue, std::uint32_t max_running) {
  if (queue.shape.placement != Placement::kLimited) {
    throw Error("max_running: queue '" + queue.name + "' is " +
                    std::string(name_of(queue.shape.placement)) + ", not limited",
                kExitBadInput);
  }
  or_refuse_open(queue, [&] {
    db::in_transaction(db, [&] { set_max_running_locked(db, queue, max_running); });
  });
}

std::size_t lift_layouts(db::Connection& db, std::span<const std::uint32_t> queue_ids) {
  if (queue_ids.empty()) return 0;
  db::Statement ended(sql::k_ended_layouts);
  ended.set_raw("queue_ids", id_list(queue_ids));
  std::size_t lifted = 0;
  db.each_row(ended, [&](const db::Row& row) {
    db::Statement lift(sql::k_lift_layout);
    db.run({lift.set("queue_id", row.u64(0)).set("layout", row.u64(1))});
    ++lifted;
  });
  return lifted;
}

std::optional<std::string> due_late(db::Connection& db, const QueueInfo& queue) {
  db::Statement last(sql::k_last_due);
  last.set("queue_id", queue.queue_id);
  auto results = db.run({last});
  const auto row = results.front().next();
  if (!row || row->is_null(0) || row->u64(1) == 0) return std::nullopt;
  return row->string(0);
}

}  // namespace allot::queue
