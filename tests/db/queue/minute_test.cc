// SPDX-License-Identifier: Apache-2.0
// Counts of instances are written exactly once, whichever process dies (S50), and shown.
#include <functional>
#include <optional>

#include "base/names.h"
#include "db/queue/fixture.h"
#include "queue/minutes/instances.h"
#include "queue/minutes/minute_store.h"
#include "queue/minutes/minute_view.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::queue {
namespace {

using std::chrono::seconds;

class MinuteTest : public QueueTest {
 protected:
  MinuteTest() : wide_(make_queue("wide", 4)) { store_.emplace(of("run")); }

  static InstanceRun of(const std::string& run) {
    return {{1, 4711, "host-a", "test", 12},
            "0.1.0",
            run,
            {{"default", 2, {"wide"}}, {"none", 0, {"mail"}}}};
  }
  // Counts so far: this number of done tasks, and one dead.
  static MinuteTotals counted(std::uint64_t done, const std::string& type = "t") {
    MinuteTotals totals;
    MinuteTotal& total = totals[{"wide", type}];
    total.counts[MinuteColumn::kDone] = done;
    total.counts[MinuteColumn::kDead] = 1;
    total.counts[MinuteColumn::kRanUs] = 1000 * done;
    total.counts[MinuteColumn::kRan10Ms] = done;
    totals[{"wide", type, "0123456789ab"}] = {{}, "no user #"};
    totals[{"wide", type, "0123456789ab"}].counts[MinuteColumn::kDead] = 1;
    return totals;
  }
  std::optional<MinuteStore::Written> write(std::uint64_t done) {
    return store_->write(worker_.db, counted(done), seconds(30));
  }
  std::uint64_t written() {
    return number("SELECT SUM(done) FROM attempt_minute WHERE error_group = ''");
  }
  // Both sessions stay in this minute.
  void stop_clock() {
    const std::string now = "SET timestamp = " + value("SELECT UNIX_TIMESTAMP(UTC_TIMESTAMP(6))");
    observer_.execute(now);
    worker_.db.execute(now);
  }
  // Moves all written rows some minutes into the past.
  void age(unsigned by) {
    for (const char* table : {"attempt_minute", "queue_minute"}) {
      observer_.execute("UPDATE " + std::string(table) + " SET minute_at = minute_at - INTERVAL " +
                        std::to_string(by) + " MINUTE ORDER BY minute_at");
    }
  }
  void wait_in_queue(std::uint64_t first, std::uint64_t last) {
    observer_.execute(
        "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) SELECT " +
        std::to_string(wide_.queue_id) + ", 0, 1, seq, 't', '' FROM " +
        support::numbers(first, last));
  }
  Minutes listed(MinutesBy by = MinutesBy::kQueue, std::uint32_t step = 1) {
    return list_minutes(observer_, {"", by, std::chrono::hours(2), step});
  }

  QueueInfo wide_;
  std::optional<MinuteStore> store_;
};

TEST_F(MinuteTest, EachCountIsWrittenOnce) {
  ASSERT_EQ(write(10)->rows, 2U);
  ASSERT_EQ(write(10)->rows, 0U);
  ASSERT_EQ(write(17)->rows, 1U) << "no further error";
  EXPECT_EQ(written(), 17U);
  store_.emplace(of("run"));  // the steward died
  write(18);
  EXPECT_EQ(written(), 18U);
  store_.emplace(of("next run"));  // allotd did, and started again
  write(3);
  EXPECT_EQ(written(), 21U);
}

// With names of the maximum length, including categories of Fireworq (S79, S85).
TEST_F(MinuteTest, TheLargestWriteIsTaken) {
  MinuteTotals totals;
  for (std::size_t i = 0; i < 900; ++i) {
    const std::string number = std::to_string(1000 + i);
    const std::string queue = std::string(kMaxQueueName - number.size(), 'q') + number;
    const std::string type = std::string(kMaxTypeName - number.size(), 't') + number;
    totals[{queue, type}].counts[MinuteColumn::kDone] = 1 + i;
    totals[{queue, type, "group" + number}] = {{}, std::string(127, 'e')};
    totals[{queue, type, "group" + number}].counts[MinuteColumn::kDead] = 1;
  }
  totals[{"wide", "caf\xc3\xa9\xff"}].counts[MinuteColumn::kDone] = 10'000;
  ASSERT_TRUE(store_->write(worker_.db, totals, seconds(30)));
  EXPECT_EQ(written(), 900U * 901 / 2 + 10'000);
  EXPECT_EQ(number("SELECT COUNT(*) FROM attempt_minute"), kMinutePairs + kMinuteErrors + 2);
  EXPECT_EQ(value("SELECT type FROM attempt_minute WHERE queue = 'wide'"), "caf???");
  EXPECT_EQ(value("SELECT MAX(LENGTH(type)) FROM attempt_minute"), "127");
}

// Like a reload, in which two stewards run for a moment.
TEST_F(MinuteTest, TwoWritersWriteEachCountOnce) {
  MinuteStore other(of("run"));
  write(10);
  other.write(observer_, counted(12), seconds(30));
  write(15);
  other.write(observer_, counted(15), seconds(30));
  write(20);
  EXPECT_EQ(written(), 20U);
  EXPECT_EQ(number("SELECT COUNT(DISTINCT write_no) FROM attempt_minute"), 4U);
}

// An upgrade may start new records while the steward of the previous version still runs.
TEST_F(MinuteTest, TheFormerProgramGivesWay) {
  write(10);
  MinuteStore newer(of("run.2"));
  newer.write(observer_, counted(2), seconds(30));
  EXPECT_FALSE(write(10)) << "it would count all of its run once more";
  newer.write(observer_, counted(5), seconds(30));
  EXPECT_EQ(written(), 15U);
}

TEST_F(MinuteTest, ARemovedRowDoesNotCountALifeAgain) {
  write(10);
  observer_.execute("DELETE FROM instance");
  write(12);
  EXPECT_EQ(written(), 12U);
}

// Before each statement of the packet, the server loses the client.
TEST_F(MinuteTest, AKillBeforeAnyStatementNeitherRepeatsNorForgets) {
  bool written_at_last = false;
  int untouched = 0;
  for (std::size_t at = 0; !written_at_last; ++at) {
    for (const char* table : {"instance", "attempt_minute", "type_hour"}) {
      observer_.execute(std::string("DELETE FROM ") + table);
    }
    store_.emplace(of("run"));
    write(10);
    const support::TempDir folder;
    const support::RewritingProxy proxy(
        folder / "p", support::Database::shared().socket(), [at](std::string sql) {
          if (sql.find("BEGIN;\n") != 0) return sql;
          std::size_t end = 0;
          for (std::size_t i = 0; i < at && end != std::string::npos; ++i) {
            end = sql.find(";\n", end == 0 ? 0 : end + 1);
          }
          const std::string kill = ";\nKILL CONNECTION_ID()";
          return end == std::string::npos
                     ? sql + kill
                     : sql.insert(end, at == 0 ? kill.substr(2) + ";\n" : kill);
        });
    db::ConnectOptions options = support::Database::shared().options(name_);
    options.socket = proxy.socket();
    db::Connection dying(options);
    EXPECT_EQ(support::error_class_of([&] { store_->write(dying, counted(13), seconds(30)); }),
              "gone")
        << at;
    // The row is locked while the server executes the packet.
    worker_.db.execute("SELECT * FROM instance FOR UPDATE");
    written_at_last = written() == 13;
    EXPECT_EQ(written(), written_at_last ? 13U : 10U) << at;
    untouched += written_at_last ? 0 : 1;
    write(14);
    EXPECT_EQ(written(), 14U) << at;
    EXPECT_EQ(number("SELECT SUM(done) FROM type_hour"), 14U) << at;
  }
  EXPECT_GE(untouched, 5) << "statements before COMMIT";
}

TEST_F(MinuteTest, AnInstanceIsShown) {
  write(1);
  const auto instances = list_instances(observer_);
  ASSERT_EQ(instances.size(), 1U);
  EXPECT_EQ(instances[0].host, "host-a");
  EXPECT_EQ(instances[0].instance, "test");
  EXPECT_EQ(instances[0].version, "0.1.0");
  EXPECT_LT(instances[0].since, instances[0].seen);
  EXPECT_LT(instances[0].silent, kInstanceSilent);
  EXPECT_EQ(pools_that_serve(instances, "wide"), std::vector<std::string>{"default@host-a"});
  EXPECT_EQ(pools_that_serve(instances, "mail"), std::vector<std::string>{});
  observer_.execute("UPDATE instance SET seen_at = seen_at - INTERVAL 29 DAY");
  purge_minutes(observer_);
  ASSERT_EQ(list_instances(observer_).size(), 1U);
  EXPECT_GE(list_instances(observer_)[0].silent, kInstanceSilent);
  EXPECT_EQ(pools_that_serve(list_instances(observer_), "wide"), std::nullopt);
  observer_.execute("UPDATE instance SET seen_at = seen_at - INTERVAL 2 DAY");
  purge_minutes(observer_);
  EXPECT_TRUE(list_instances(observer_).empty());
}

TEST_F(MinuteTest, MinutesOlderThanAWeekAreRemovedInBatches) {
  write(1);
  write_backlogs(observer_);
  observer_.execute(
      "INSERT INTO attempt_minute SELECT minute_at - INTERVAL 8 DAY, origin, write_no + seq, "
      "row_no,"
      " seconds, queue, type, error_group, error, done, retried, snoozed, interrupted, dead,"
      " cancelled, crashed, ran_us, ran_10ms, ran_100ms, ran_1s, ran_10s, ran_1min, ran_longer"
      " FROM attempt_minute, " +
      support::numbers(1, 1000));
  observer_.execute(
      "INSERT INTO queue_minute SELECT minute_at - INTERVAL 8 DAY, 0, 0, 0"
      " FROM queue_minute");
  EXPECT_TRUE(purge_minutes(observer_));
  EXPECT_TRUE(purge_minutes(observer_)) << "it was a whole batch, so there may be more";
  EXPECT_FALSE(purge_minutes(observer_));
  EXPECT_EQ(number("SELECT COUNT(*) FROM attempt_minute"), 2U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_minute"), 1U);
}

TEST_F(MinuteTest, InIsOutAndTheChangeOfTheBacklog) {
  stop_clock();
  wait_in_queue(1, 30);
  write_backlogs(observer_);
  age(10);
  write(7);
  wait_in_queue(31, 35);
  write_backlogs(observer_);
  Minutes minutes = listed();
  ASSERT_EQ(minutes.list.size(), 1U) << "the first look only says what was there";
  EXPECT_EQ(minutes.list[0].key.queue, "wide");
  EXPECT_EQ(minutes.list[0].counts.out(), 8U) << "one is dead";
  EXPECT_EQ(minutes.list[0].backlog, 35U);
  EXPECT_EQ(minutes.list[0].in, 8 + 5);
  EXPECT_FALSE(minutes.list[0].estimated);
  age(10);
  observer_.execute("DELETE FROM task WHERE prio = 1");
  write_backlogs(observer_);
  minutes = listed();
  ASSERT_EQ(minutes.list.size(), 2U);
  EXPECT_EQ(minutes.list[0].backlog, 0U);
  EXPECT_EQ(minutes.list[0].in, -35) << "no worker had them";
}

TEST_F(MinuteTest, ABacklogBeyondTheBoundIsTheServersEstimate) {
  wait_in_queue(1, 60'000);
  observer_.execute("ANALYZE TABLE task");
  write_backlogs(observer_);
  age(5);
  write_backlogs(observer_);
  const Minutes minutes = listed();
  ASSERT_EQ(minutes.list.size(), 1U);
  EXPECT_TRUE(minutes.list[0].estimated);
  EXPECT_GT(minutes.list[0].backlog, 10'001U);
  EXPECT_LT(minutes.list[0].backlog, 240'000U);
}

TEST_F(MinuteTest, ByTypeAndByError) {
  stop_clock();
  write(7);
  store_->write(worker_.db, counted(4, "u"), seconds(30));
  const Minutes types = listed(MinutesBy::kType);
  ASSERT_EQ(types.list.size(), 2U);
  EXPECT_EQ(types.list[0].key.type, "t");
  EXPECT_EQ(types.list[0].counts[MinuteColumn::kRan10Ms], 7U);
  EXPECT_FALSE(types.list[0].in);
  const Minutes errors = listed(MinutesBy::kError);
  ASSERT_EQ(errors.list.size(), 2U);
  EXPECT_EQ(errors.list[1].key.error_group, "0123456789ab");
  EXPECT_EQ(errors.list[1].error, "no user #");
  EXPECT_EQ(errors.list[1].counts.attempts(), 1U);
  EXPECT_TRUE(
      list_minutes(observer_, {"none", MinutesBy::kType, std::chrono::minutes(5), 1}).list.empty());
}

TEST_F(MinuteTest, StepsAddUp) {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    write(i * 10);
    age(1);
  }
  const Minutes minutes = listed(MinutesBy::kQueue, 60);
  std::uint64_t all = 0;
  for (const MinuteView& view : minutes.list) all += view.counts[MinuteColumn::kDone];
  EXPECT_EQ(all, 30U);
  EXPECT_LE(minutes.list.size(), 2U) << "an hour may have ended during the test";
}

}  // namespace
}  // namespace allot::queue
