// SPDX-License-Identifier: Apache-2.0
// A bulk action is a count, a row, and batches of one packet and one transaction each (S49).
#include <functional>

#include "base/checksum.h"
#include "db/queue/fixture.h"
#include "queue/model/dead_letter.h"
#include "queue/model/error_text.h"
#include "queue/operate/bulk_work.h"
#include "queue/operate/resize.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::queue {
namespace {

class BulkTest : public QueueTest {
 protected:
  BulkTest() : wide_(make_queue("wide", 4)) {}

  // Creates this number of dead tasks in each partition, with an attempt each.
  void die(std::uint32_t in_each, const std::string& type = "t", const std::string& error = "no",
           const std::string& died_at = "UTC_TIMESTAMP(6)") {
    const std::string id = std::to_string(wide_.queue_id);
    const std::string first = std::to_string(next_key_);
    next_key_ += std::uint64_t{4} * in_each;
    observer_.execute(
        "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload,"
        " cause, error, fault, died_at) SELECT " +
        id + ", seq % 4, 1, " + first + " + 1 + seq, 1, '" + type + "', 'x', 'fail', '" + error +
        "', '" + fault_of(error, "") + "', " + died_at + " FROM " +
        support::numbers(0, 4 * in_each - 1));
    observer_.execute(
        "INSERT INTO task_attempt (queue_id, partition_no, prio, first_key, retries_since, attempt,"
        " ended_at, cause, error, lock_host, lock_pid) SELECT queue_id, partition_no, prio,"
        " first_key, 0, 1, died_at, 'fail', '', 'h', 1 FROM task_dead"
        " WHERE first_key > " +
        first);
  }
  std::uint64_t begin(BulkKind kind = BulkKind::kRetryDead, const BulkFilter& filter = {},
                      std::uint32_t rate = 0) {
    const BulkCount count = count_bulk(observer_, kind, wide_, filter, 100'000);
    return begin_bulk(observer_, wide_, {kind, filter, count.token, rate, "anna@host"});
  }
  // Processes the action to its end, ignoring its rate.
  void work_off(std::uint64_t action_id) {
    for (int i = 0; i < 1000 && work_bulk(worker_.db, action_id).open; ++i) {
      observer_.execute("UPDATE bulk_action SET next_at = '2026-01-01'");
    }
  }
  BulkAction found(std::uint64_t action_id) { return find_bulk(observer_, action_id).value(); }
  std::uint64_t dead() { return number("SELECT COUNT(*) FROM task_dead"); }
  std::uint64_t waiting() { return number("SELECT COUNT(*) FROM task"); }
  // Each attempt of a retried task belongs to an earlier run; after a single retry to the previous
  // one.
  void expect_retried_once(std::uint64_t tasks) {
    EXPECT_EQ(waiting(), tasks);
    EXPECT_EQ(number("SELECT COUNT(DISTINCT partition_no, first_key) FROM task"), tasks);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt WHERE retries_since = 1"), tasks);
    EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt WHERE retries_since > 1"), 0U);
  }

  // A connection whose batch packets are changed, or observed, in transit.
  struct Meddled {
    Meddled(const std::string& database, const std::function<std::string(std::string)>& change)
        : proxy(folder / "p", support::Database::shared().socket(), [change](std::string sql) {
            return sql.find("BEGIN;\n") == 0 ? change(std::move(sql)) : sql;
          }) {
      db::ConnectOptions options = support::Database::shared().options(database);
      options.socket = proxy.socket();
      db.emplace(options);
    }
    support::TempDir folder;
    support::RewritingProxy proxy;
    std::optional<db::Connection> db;
  };
  // Calls `act` once, when the first batch is in transit to the server.
  Meddled meddle_during(const std::function<void()>& act) {
    return {name_, [act, done = std::make_shared<bool>(false)](std::string sql) {
              if (!std::exchange(*done, true)) act();
              return sql;
            }};
  }

  QueueInfo wide_;
  std::uint64_t next_key_ = 0;
};

TEST_F(BulkTest, RetriesWhatWasCounted) {
  die(60);
  const BulkCount count = count_bulk(observer_, BulkKind::kRetryDead, wide_, {}, 1000);
  EXPECT_EQ(count.tasks, 240U);
  EXPECT_FALSE(count.more);
  const std::uint64_t action_id = begin();
  EXPECT_EQ(found(action_id).state, BulkState::kWaiting);
  const BulkStep step = work_bulk(worker_.db, action_id);
  EXPECT_TRUE(step.open);
  EXPECT_EQ(step.put_back, kDeadBatch) << "of two partitions, in one transaction";
  EXPECT_EQ(step.queue_id, wide_.queue_id);
  EXPECT_EQ(found(action_id).done, kDeadBatch);
  EXPECT_EQ(found(action_id).state, BulkState::kRunning);
  work_off(action_id);
  const BulkAction action = found(action_id);
  EXPECT_EQ(action.state, BulkState::kDone);
  EXPECT_EQ(action.done, 240U);
  EXPECT_EQ(action.counted, 240U);
  EXPECT_EQ(action.requested_by, "anna@host");
  EXPECT_FALSE(action.ended_at.empty());
  EXPECT_EQ(dead(), 0U);
  expect_retried_once(240);
}

TEST_F(BulkTest, TheFilterChooses) {
  die(3, "t", "user 1 is gone");
  die(2, "u", "user 2 is gone");
  die(1, "t", "refused");
  const std::string group = dead_groups(observer_, wide_, 1000).list.front().newest.group;
  EXPECT_EQ(count_bulk(observer_, BulkKind::kDiscardDead, wide_, {group, ""}, 1000).tasks, 12U);
  const std::uint64_t by_group = begin(BulkKind::kDiscardDead, {group, ""});
  work_off(by_group);
  EXPECT_EQ(found(by_group).done, 12U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead WHERE type = 't'"), 4U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_attempt"), 12U) << "their records went, too";
  const std::uint64_t by_type = begin(BulkKind::kDiscardDead, {"", "u"});
  work_off(by_type);
  EXPECT_EQ(found(by_type).done, 8U);
  EXPECT_EQ(dead(), 4U);
  EXPECT_EQ(waiting(), 0U);
}

TEST_F(BulkTest, ACountIsBounded) {
  die(5);
  const BulkCount some = count_bulk(observer_, BulkKind::kRetryDead, wide_, {}, 19);
  EXPECT_EQ(some.tasks, 19U);
  EXPECT_TRUE(some.more);
  EXPECT_FALSE(count_bulk(observer_, BulkKind::kRetryDead, wide_, {}, 20).more);
  const std::uint64_t action_id = begin_bulk(observer_, wide_, {.token = some.token});
  EXPECT_FALSE(found(action_id).counted_all);
  work_off(action_id);
  EXPECT_EQ(found(action_id).done, 20U) << "all of them, also those that were not counted";
}

TEST_F(BulkTest, TasksThatDieAfterTheCountStay) {
  die(5);
  const std::uint64_t action_id = begin();
  die(1);
  work_off(action_id);
  EXPECT_EQ(found(action_id).done, 20U);
  EXPECT_EQ(dead(), 4U);
}

TEST_F(BulkTest, DeathsBeforeTheClockWasSetBackAreIncluded) {
  die(5, "t", "no", "UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_EQ(count_bulk(observer_, BulkKind::kRetryDead, wide_, {}, 100).tasks, 20U);
  const std::uint64_t action_id = begin();
  work_off(action_id);
  EXPECT_EQ(found(action_id).done, 20U);
  EXPECT_EQ(dead(), 0U);
}

// It was retried by another process, and died again, while the batch was in transit.
TEST_F(BulkTest, TaskThatDiesAgainDuringABatchStays) {
  die(5);
  const std::uint64_t action_id = begin();
  Meddled meddled = meddle_during([&] {
    observer_.execute("UPDATE task_dead SET died_at = UTC_TIMESTAMP(6) WHERE first_key = 3");
  });
  work_bulk(*meddled.db, action_id);
  EXPECT_EQ(found(action_id).state, BulkState::kDone);
  EXPECT_EQ(found(action_id).done, 19U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task_dead WHERE first_key = 3"), 1U);
}

TEST_F(BulkTest, TasksRetriedByOthersAreNotCounted) {
  die(5);
  const std::uint64_t action_id = begin();
  Meddled meddled = meddle_during([&] {
    EXPECT_EQ(retry_dead(observer_, {{{{wide_.queue_id, 2}, 1, 3}}}), 1U);
  });
  work_bulk(*meddled.db, action_id);
  EXPECT_EQ(found(action_id).done, 19U);
  expect_retried_once(20);
}

TEST_F(BulkTest, ConcurrentWorkMakesOneBatch) {
  die(60);
  const std::uint64_t action_id = begin();
  Meddled meddled = meddle_during([&] { work_bulk(worker_.db, action_id); });
  work_bulk(*meddled.db, action_id);
  EXPECT_EQ(found(action_id).batches, 2U);
  EXPECT_EQ(found(action_id).done, 200U);
  expect_retried_once(200);
  work_off(action_id);
  expect_retried_once(240);
}

TEST_F(BulkTest, StoppedActionDoesNothingMore) {
  die(60);
  const std::uint64_t action_id = begin();
  work_bulk(worker_.db, action_id);
  Meddled meddled =
      meddle_during([&] { EXPECT_TRUE(stop_bulk(observer_, action_id, "bea@host")); });
  EXPECT_FALSE(work_bulk(*meddled.db, action_id).open);
  const BulkAction action = found(action_id);
  EXPECT_EQ(action.state, BulkState::kStopped);
  EXPECT_EQ(action.stopped_by, "bea@host");
  EXPECT_EQ(action.done, 100U);
  EXPECT_EQ(dead(), 140U);
  expect_retried_once(100);
  EXPECT_FALSE(stop_bulk(observer_, action_id, "carl")) << "it was at its end";
  EXPECT_FALSE(stop_bulk(observer_, 4711, "carl"));
  EXPECT_TRUE(open_bulk(observer_).empty());
}

// Before each statement of the packet, the server loses the client.
TEST_F(BulkTest, AKillBeforeAnyStatementNeitherRepeatsNorForgets) {
  for (const BulkKind kind : {BulkKind::kRetryDead, BulkKind::kDiscardDead}) {
    bool done_once = false;
    int untouched = 0;
    for (std::size_t at = 0; !done_once; ++at) {
      for (const char* table : {"task", "task_moved", "task_attempt", "task_dead", "bulk_action"}) {
        observer_.execute(std::string("DELETE FROM ") + table);
      }
      die(2);
      const std::uint64_t action_id = begin(kind);
      Meddled meddled(name_, [at](std::string sql) {
        std::size_t end = 0;
        for (std::size_t i = 0; i < at && end != std::string::npos; ++i) {
          end = sql.find(";\n", end == 0 ? 0 : end + 1);
        }
        const std::string kill = ";\nKILL CONNECTION_ID()";
        return end == std::string::npos ? sql + kill
                                        : sql.insert(end, at == 0 ? kill.substr(2) + ";\n" : kill);
      });
      EXPECT_EQ(support::error_class_of([&] { work_bulk(*meddled.db, action_id); }), "gone") << at;
      // The row of the action is locked while the server executes the packet.
      worker_.db.execute("SELECT * FROM bulk_action FOR UPDATE");
      const BulkAction action = found(action_id);
      done_once = action.state == BulkState::kDone;
      EXPECT_EQ(action.done, done_once ? 8U : 0U) << at;
      EXPECT_EQ(dead(), done_once ? 0U : 8U) << at;
      untouched += done_once ? 0 : 1;
      work_off(action_id);
      EXPECT_EQ(found(action_id).done, 8U) << at;
      EXPECT_EQ(dead(), 0U) << at;
      if (kind == BulkKind::kRetryDead) {
        expect_retried_once(8);
      } else {
        EXPECT_EQ(waiting(), 0U);
      }
    }
    EXPECT_GE(untouched, 10) << "statements before COMMIT";
  }
}

TEST_F(BulkTest, TheRateIsReadFromTheRow) {
  die(2);
  const std::uint64_t action_id = begin(BulkKind::kRetryDead, {}, 2);
  worker_.db.execute("SET timestamp = UNIX_TIMESTAMP(UTC_TIMESTAMP(6))");  // its clock is stopped
  EXPECT_TRUE(work_bulk(worker_.db, action_id).open);
  EXPECT_EQ(found(action_id).done, 1U);
  const BulkStep early = work_bulk(worker_.db, action_id);
  EXPECT_TRUE(early.open);
  EXPECT_GT(early.wait.count(), 0) << "half a second, by the database's clock";
  EXPECT_LE(early.wait, std::chrono::milliseconds(500));
  EXPECT_EQ(found(action_id).done, 1U);
  observer_.execute("UPDATE bulk_action SET next_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  EXPECT_EQ(open_bulk(observer_).at(0).wait.count(), 0);
  work_bulk(worker_.db, action_id);
  EXPECT_EQ(found(action_id).done, 2U) << "the clock was set back";
}

TEST_F(BulkTest, ATokenIsOfItsCount) {
  die(1);
  const BulkCount count = count_bulk(observer_, BulkKind::kRetryDead, wide_, {"", "t"}, 100);
  const BulkRequest good{BulkKind::kRetryDead, {"", "t"}, count.token, 7, "anna"};
  const auto refusal = [&](const QueueInfo& queue, const BulkRequest& request) -> std::string {
    try {
      begin_bulk(observer_, queue, request);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), kExitBadInput);
      return error.what();
    }
    return "";
  };
  std::vector<BulkRequest> others(4, good);
  others[0].kind = BulkKind::kDiscardDead;
  others[1].filter = {};
  others[2].filter.group = "0123456789ab";
  others[3].token.back() = others[3].token.back() == '0' ? '1' : '0';
  for (const std::string text : {"", ".", "1", "1.", "1.2.3", "x", "-1.2.3", "' OR 1=1"}) {
    others.push_back(good);
    others.back().token = text;
  }
  for (const BulkRequest& other : others) {
    EXPECT_NE(refusal(wide_, other).find("belongs to another count"), std::string::npos)
        << other.token;
  }
  EXPECT_NE(refusal(queue_, good), "") << "another queue";
  EXPECT_EQ(number("SELECT COUNT(*) FROM bulk_action"), 0U);
  const std::uint64_t action_id = begin_bulk(observer_, wide_, good);
  EXPECT_EQ(begin_bulk(observer_, wide_, good), action_id) << "the reply was lost";
  EXPECT_EQ(found(action_id).rate, 7U);
}

TEST_F(BulkTest, ATokenHoldsForAnHour) {
  die(1);
  // The database's clock cannot be changed, so the token is made for another time.
  const std::uint64_t now = number(
      "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01',"
      " UTC_TIMESTAMP(6))");
  const auto begin_at = [&](std::uint64_t us) {
    const std::string head = std::to_string(us) + ".4.";
    Checksum sum;
    sum.add(head + " retry_dead " + wide_.name + "   ");
    std::array<char, 20> digits{};
    std::snprintf(digits.data(), digits.size(), "%llx",
                  static_cast<unsigned long long>(sum.value()));
    return begin_bulk(observer_, wide_, {.token = head + digits.data()});
  };
  const std::uint64_t minute = 60'000'000;
  EXPECT_THROW(begin_at(now - 61 * minute), Error);
  EXPECT_THROW(begin_at(now + minute), Error);
  EXPECT_GT(begin_at(now - 59 * minute), 0U);
}

TEST_F(BulkTest, NotAllMayBeOpenAtOnce) {
  die(1);
  observer_.execute(
      "INSERT INTO bulk_action (token, kind, queue_id, dead_group, type, died_until,"
      " counted, counted_all, requested_by, started_at, next_at) SELECT CONCAT('x', seq),"
      " 'retry_dead', 1, '', '', '2026-01-01', 1, 1, '', '2026-01-01', '2026-01-01'"
      " FROM " +
      support::numbers(1, kMostOpenBulk));
  EXPECT_THROW(begin(), Error);
  observer_.execute(
      "UPDATE bulk_action SET ended_at = UTC_TIMESTAMP(6), state = 'done'"
      " WHERE token = 'x1'");
  EXPECT_GT(begin(), 0U);
}

TEST_F(BulkTest, WhereTheQueueWasResizedTheyGoWhereTheirKeysGo) {
  wide_ = ensure_queue(observer_, "keyed", {4, Placement::kOrdered});
  die(5);
  observer_.execute("UPDATE task_dead SET key_hash = CRC32(CONCAT(partition_no, '-', first_key))");
  const std::uint64_t action_id = begin();
  resize_layout(observer_, wide_, 2);
  const BulkStep step = work_bulk(worker_.db, action_id);
  EXPECT_EQ(step.moved.size(), 20U);
  EXPECT_EQ(found(action_id).done, 20U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM task WHERE partition_no >= 4"), 20U);
  expect_retried_once(20);
}

TEST_F(BulkTest, AnActionFailsIfItsBatchCannotBeMade) {
  wide_ = ensure_queue(observer_, "keyed", {4, Placement::kOrdered});
  die(5);
  const std::uint64_t action_id = begin();
  resize_layout(observer_, wide_, 2);
  const BulkStep step = work_bulk(worker_.db, action_id);
  EXPECT_TRUE(step.failed);
  EXPECT_FALSE(step.open);
  EXPECT_EQ(found(action_id).state, BulkState::kFailed);
  EXPECT_NE(found(action_id).error.find("was submitted without a partition key"),
            std::string::npos);
  EXPECT_EQ(dead(), 20U);
  EXPECT_FALSE(work_bulk(worker_.db, action_id).open);
}

TEST_F(BulkTest, EndedOnesAreKeptForAWeek) {
  die(1);
  const std::uint64_t old = begin();
  work_off(old);
  die(1);
  const std::uint64_t recent = begin();
  work_off(recent);
  die(1);
  const std::uint64_t open = begin();
  observer_.execute(
      "UPDATE bulk_action SET ended_at = UTC_TIMESTAMP(6) - INTERVAL 8 DAY"
      " WHERE action_id = " +
      std::to_string(old));
  observer_.execute(
      "UPDATE bulk_action SET started_at = UTC_TIMESTAMP(6) - INTERVAL 8 DAY"
      " WHERE action_id = " +
      std::to_string(open));
  EXPECT_FALSE(purge_bulk(observer_));
  const auto left = list_bulk(observer_, UINT64_MAX, 10);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[0].action_id, open) << "the newest first";
  EXPECT_EQ(left[1].action_id, recent);
  EXPECT_EQ(list_bulk(observer_, open, 10).size(), 1U);
  EXPECT_FALSE(find_bulk(observer_, old));
  observer_.execute(
      "INSERT INTO bulk_action (action_id, token, kind, queue_id, dead_group, type, died_until,"
      " counted, counted_all, requested_by, started_at, next_at, ended_at, state)"
      " SELECT action_id + 10000, 'y', kind, queue_id, '', '', died_until, 1, 1, '', started_at,"
      " next_at, ended_at, 'done' FROM bulk_action WHERE action_id = " +
      std::to_string(recent));
  EXPECT_FALSE(purge_bulk(observer_));
  EXPECT_FALSE(find_bulk(observer_, recent)) << "too many are newer";
  EXPECT_TRUE(find_bulk(observer_, open)) << "it is not at its end";
}

}  // namespace
}  // namespace allot::queue
