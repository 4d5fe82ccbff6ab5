// SPDX-License-Identifier: Apache-2.0
// Entries of the audit (S89): one for each action that changed something, in its transaction.
#include "queue/model/audit.h"

#include <functional>

#include "db/queue/fixture.h"
#include "queue/locks/lock_store.h"
#include "queue/operate/bulk_work.h"
#include "queue/operate/cancel.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/limits.h"
#include "queue/operate/move.h"
#include "queue/operate/purge.h"
#include "queue/operate/route.h"
#include "queue/schedules/schedule_store.h"
#include "queue/views/audit_entries.h"

namespace allot::queue {
namespace {

class AuditTest : public QueueTest {
 protected:
  AuditTest() { worker_.db.act_for(db::Actor{"ann@host", "cli", "because"}); }

  db::Connection& db() { return worker_.db; }
  std::vector<AuditEntry> entries() { return list_audit(observer_, UINT64_MAX, 1000); }
  // The newest entry, which must be the only one since the last call.
  AuditEntry entry() {
    const auto all = entries();
    EXPECT_EQ(all.size(), seen_ + 1);
    seen_ = all.size();
    return all.empty() ? AuditEntry{} : all.front();
  }
  void expect_none() { EXPECT_EQ(entries().size(), seen_) << entries().front().action; }
  TaskId put_dead() {
    const TaskId id = put(1).front();
    observer_.act_for(std::nullopt);
    EXPECT_TRUE(cancel(observer_, id, id.first_key, "no"));
    return id;
  }

 private:
  std::size_t seen_ = 0;
};

TEST_F(AuditTest, SaysWhoDidWhatAndWhy) {
  pause(db(), queue_, "a pause");
  const AuditEntry paused = entry();
  EXPECT_EQ(paused.actor, "ann@host");
  EXPECT_EQ(paused.source, "cli");
  EXPECT_EQ(paused.action, "pause");
  EXPECT_EQ(paused.subject, "queue");
  EXPECT_EQ(paused.name, queue_.name);
  EXPECT_EQ(paused.queue, queue_.name);
  EXPECT_EQ(paused.tasks, std::nullopt);
  EXPECT_EQ(paused.reason, "because");
  EXPECT_TRUE(set_rate(db(), queue_, {5'000'000, 3}));
  EXPECT_EQ(entry().detail, text_of(Rate{5'000'000, 3}));
}

TEST_F(AuditTest, NoEntryWithoutAChange) {
  EXPECT_FALSE(resume(db(), queue_));
  EXPECT_FALSE(remove_rate(db(), queue_));
  const TaskId alive = put(1).front();
  EXPECT_EQ(retry_dead(db(), {&alive, 1}), 0U);
  EXPECT_EQ(discard_dead(db(), {&alive, 1}), 0U);
  EXPECT_FALSE(cancel(db(), alive, alive.first_key + 1, ""));
  EXPECT_FALSE(remove_route(db(), queue_, pattern_of("none")));
  EXPECT_FALSE(pause_schedule(db(), "none", ""));
  EXPECT_FALSE(resize_lock(db(), "none", 3));
  EXPECT_FALSE(stop_bulk(db(), 4711, "ann"));
  expect_none();
}

// A worker, a steward and an application use the same functions.
TEST_F(AuditTest, WithoutAnActorThereIsNone) {
  db().act_for(std::nullopt);
  pause(db(), queue_, "");
  const TaskId dead = put_dead();
  EXPECT_EQ(discard_dead(db(), {&dead, 1}), 1U);
  expect_none();
}

TEST_F(AuditTest, EachTaskHasItsOwn) {
  const std::vector<TaskId> dead{put_dead(), put_dead()};
  const TaskId alive = put(1).front();
  const std::vector<TaskId> all{dead[0], dead[1], alive};
  EXPECT_EQ(retry_dead(db(), all), 2U);
  const auto found = entries();
  ASSERT_EQ(found.size(), 2U);
  for (const AuditEntry& one : found) {
    EXPECT_EQ(one.action, "retry");
    EXPECT_TRUE(one.name == dead[0].text() || one.name == dead[1].text()) << one.name;
    EXPECT_EQ(one.tasks, 1U);
    EXPECT_EQ(one.queue, queue_.name);
  }
  EXPECT_NE(found[0].name, found[1].name);
}

TEST_F(AuditTest, ACancelOfAWaitingTask) {
  const TaskId id = put(1).front();
  EXPECT_TRUE(cancel_task(db(), id, "why").done);
  EXPECT_EQ(entry().name, id.text());
}

// The end of a running task is requested, and a second operator's request is recorded although the
// first one is pending.
TEST_F(AuditTest, ACancelOfARunningTask) {
  const TaskId id = put(1).front();
  must_lease();
  observer_.execute("UPDATE task SET flags = flags | 64");
  EXPECT_TRUE(cancel_task(db(), id, "why").requested);
  EXPECT_EQ(entry().action, "cancel");
  EXPECT_TRUE(cancel_task(db(), id, "why").requested);
  EXPECT_EQ(entry().action, "cancel");
  EXPECT_TRUE(cancel_task(db(), id, "why", AsDone{}).conflict);
  expect_none();
}

TEST_F(AuditTest, AMoveOfSeveralTransactionsIsOneEntry) {
  const QueueInfo other = make_queue("other", 1);
  put(5);
  std::vector<Waiting> waiting;
  each_waiting(observer_, queue_, [&](const Waiting& one) {
    waiting.push_back(one);
    return true;
  });
  const Mover mover(worker_.leases.holder(), queue_);
  EXPECT_EQ(mover.move(db(), std::span(waiting).first(2), {other.queue_id, 0}), 2U);
  EXPECT_EQ(mover.move(db(), std::span(waiting).subspan(2), {other.queue_id, 0}), 3U);
  EXPECT_EQ(mover.move(db(), waiting, {other.queue_id, 0}), 0U);
  const AuditEntry moved = entry();
  EXPECT_EQ(moved.tasks, 5U);
  EXPECT_EQ(moved.to_queue, "other");
  EXPECT_EQ(moved.subject, "queue");
}

TEST_F(AuditTest, ABulkActionHasOneHoweverOftenItIsBegun) {
  put_dead();
  const BulkCount count = count_bulk(observer_, BulkKind::kRetryDead, queue_, {}, 100);
  const BulkRequest request{BulkKind::kRetryDead, {}, count.token, 0, "ann"};
  const std::uint64_t action = begin_bulk(db(), queue_, request);
  EXPECT_EQ(begin_bulk(db(), queue_, request), action);
  const AuditEntry begun = entry();
  EXPECT_EQ(begun.action, "retry_dead");
  EXPECT_EQ(begun.tasks, 1U);
  EXPECT_TRUE(stop_bulk(db(), action, "ann"));
  EXPECT_EQ(entry().queue, queue_.name);
  EXPECT_FALSE(stop_bulk(db(), action, "ann"));
  expect_none();
}

// The change and its entry both exist, or neither.
TEST_F(AuditTest, AnEntryThatCannotBeWrittenUndoesTheAction) {
  observer_.execute("ALTER TABLE audit RENAME TO no_audit");
  EXPECT_THROW(pause(db(), queue_, ""), db::DbError);
  EXPECT_THROW(set_rate(db(), queue_, {5'000'000, 3}), db::DbError);
  observer_.execute("ALTER TABLE no_audit RENAME TO audit");
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_pause"), 0U);
  expect_none();
}

TEST_F(AuditTest, AnActionThatFailsHasNone) {
  observer_.execute("ALTER TABLE queue_pause RENAME TO no_pause");
  EXPECT_THROW(pause(db(), queue_, ""), db::DbError);
  observer_.execute("ALTER TABLE no_pause RENAME TO queue_pause");
  expect_none();
}

TEST_F(AuditTest, LongAndWrongTextsFit) {
  db().act_for(db::Actor{std::string(300, 'w'), "cli", std::string(300, 'r') + "\xff"});
  pause(db(), queue_, "");
  EXPECT_EQ(entry().reason.size(), 255U);
}

TEST_F(AuditTest, APageGoesByItsFilter) {
  const QueueInfo other = make_queue("other", 1);
  for (int i = 0; i < 3; ++i) pause(db(), queue_, "");
  pause(db(), other, "");
  const auto all = [](const AuditEntry&) { return true; };
  const auto first = page_audit(observer_, {}, UINT64_MAX, 3, all);
  ASSERT_EQ(first.entries.size(), 3U);
  EXPECT_EQ(first.entries.front().name, "other");
  ASSERT_TRUE(first.next);
  EXPECT_EQ(page_audit(observer_, {}, *first.next, 3, all).entries.size(), 1U);
  EXPECT_FALSE(page_audit(observer_, {}, *first.next, 3, all).next);
  EXPECT_EQ(page_audit(observer_, {.subject = "queue", .name = "other"}, UINT64_MAX, 9, all)
                .entries.size(),
            1U);
  EXPECT_EQ(page_audit(observer_, {.queue = queue_.name}, UINT64_MAX, 9, all).entries.size(), 3U);
  EXPECT_TRUE(page_audit(observer_, {.actor = "other"}, UINT64_MAX, 9, all).entries.empty());
  EXPECT_TRUE(page_audit(observer_, {.action = "resume"}, UINT64_MAX, 9, all).entries.empty());
}

TEST_F(AuditTest, IsKeptFor90Days) {
  pause(db(), queue_, "");
  pause(db(), queue_, "");
  observer_.execute("UPDATE audit SET at = UTC_TIMESTAMP(6) - INTERVAL 91 DAY LIMIT 1");
  EXPECT_FALSE(purge_audit(observer_));
  EXPECT_EQ(entries().size(), 1U);
  // Only the newest million are kept.
  observer_.execute(
      "UPDATE audit SET audit_id = 5; INSERT INTO audit (audit_id, at, actor, source, action,"
      " subject, name, detail, reason) VALUES (1000005, UTC_TIMESTAMP(6), '', '', '', '',"
      " '', '', '')");
  EXPECT_FALSE(purge_audit(observer_));
  EXPECT_EQ(entries().size(), 1U);
}

}  // namespace
}  // namespace allot::queue
