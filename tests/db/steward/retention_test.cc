// SPDX-License-Identifier: Apache-2.0
// Chores that remove rows which are past their time (C10).
#include "db/steward/steward_host.h"
#include "db/worker/loop_fixture.h"
#include "queue/locks/lock_store.h"
#include "queue/operate/bulk_work.h"
#include "steward/chores.h"
#include "support/eventually.h"

namespace allot::steward {
namespace {

class RetentionTest : public worker::LoopTest {
 protected:
  // The steward of a host that serves the queue.
  struct Host : StewardHost {
    Host(process::Session& session, process::SlotWriter& slot, const std::vector<Served>& queues)
        : StewardHost(session, slot), served(queues) {
      loop.add(retention(session, served));
    }
    [[nodiscard]] Nanos next_ns(const std::string& name) const {
      for (const Chore& chore : loop.chores()) {
        if (chore.name == name) return chore.next_ns;
      }
      return 0;
    }
    std::vector<Served> served;
  };
  std::unique_ptr<Host> host() {
    return std::make_unique<Host>(one_->session(), slot_, std::vector<Served>{{queue_, &config_}});
  }
  std::uint64_t rows(const std::string& table) {
    return support::number_of(db_, "SELECT COUNT(*) FROM " + table);
  }
  // True if the rows are removed down to this number, in batches.
  bool removed(Host& host, const std::string& table, std::uint64_t left) {
    return support::eventually([&] {
      host.loop.round();
      return rows(table) == left;
    });
  }
  // Another host leads the duties of bulk actions.
  std::unique_ptr<Leadership> other() {
    auto other =
        std::make_unique<Leadership>(two_->session(), queue::make_holder("b", "/run/allot/b"));
    other->want(queue::bulk_duty());
    other->round();
    return other;
  }

  std::unique_ptr<worker::LoopWorker> one_ = worker();
  std::unique_ptr<worker::LoopWorker> two_ = worker();
};

TEST_F(RetentionTest, TheAuditIsPurgedInBatchesWhereBulkActionsAreLed) {
  db_.execute(
      "INSERT INTO audit (at, actor, source, action, subject, name, detail, reason)"
      " SELECT UTC_TIMESTAMP(6) - INTERVAL IF(seq <= 2500, 91, 89) DAY, '', '', '', '', '', '', ''"
      " FROM " +
      support::numbers(1, 2600));
  const auto leader = other();
  const auto host = this->host();
  host->loop.round();
  EXPECT_EQ(rows("audit"), 2600U) << "it does not lead";
  leader->leave();
  EXPECT_TRUE(removed(*host, "audit", 100));
  EXPECT_GT(host->next_ns("audit"), boot_ns() + 3000 * kSecond) << "in an hour again";
}

TEST_F(RetentionTest, NumbersOfJobsAreSweptInBatches) {
  db_.execute(
      "INSERT INTO fireworq_job (queue_id, partition_no, prio, first_key) SELECT 1, 0, 1, "
      "seq FROM " +
      support::numbers(1, 2500));
  const auto host = this->host();
  EXPECT_TRUE(removed(*host, "fireworq_job", 0));
  EXPECT_GT(host->next_ns("job_numbers"), boot_ns() + 3000 * kSecond) << "in an hour again";
}

TEST_F(RetentionTest, AbandonedTicketsAreRemoved) {
  queue::draw_ticket(db_, "x", queue::make_holder("", ""));
  db_.execute("UPDATE lock_ticket SET expire_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR");
  host()->loop.round();
  EXPECT_EQ(rows("lock_ticket"), 0U);
}

// An installation that only runs drains from cron does not keep keys for ever.
TEST_F(RetentionTest, ADrainThatLeavesDoesAllAtOnce) {
  config_.dead_retention = std::chrono::hours(1);
  const auto host = this->host();
  host->loop.finish();
  host->leadership.leave();
  EXPECT_EQ(value("SELECT GROUP_CONCAT(duty ORDER BY duty) FROM queue_duty"
                  " WHERE last_run IS NOT NULL"),
            "purge,unique");
}

// Once an hour over all hosts, even if the leader changes more often.
TEST_F(RetentionTest, FreeKeysAreSweptOnceAnHour) {
  const auto put_free_key = [&] {
    db_.execute("INSERT INTO task_unique VALUES (" + std::to_string(queue_.queue_id) +
                ", 'k', 0, 1, 1, 1, 0, UTC_TIMESTAMP(6) - INTERVAL 2 HOUR)");
  };
  put_free_key();
  const auto first = host();
  first->loop.round();
  EXPECT_EQ(rows("task_unique"), 0U);
  first->leadership.leave();
  put_free_key();
  const auto second = host();
  second->loop.round();
  EXPECT_TRUE(second->leadership.leads({queue_.queue_id, "unique"}));
  EXPECT_EQ(rows("task_unique"), 1U);
  second->leadership.leave();
  db_.execute("UPDATE queue_duty SET last_run = last_run - INTERVAL 1 HOUR");
  host()->loop.round();
  EXPECT_EQ(rows("task_unique"), 0U);
}

// A failed purge is in the duty's row until it succeeds.
TEST_F(RetentionTest, AnErrorIsInTheRowOfTheDuty) {
  db_.execute("RENAME TABLE task_unique TO elsewhere");
  const auto host = this->host();
  host->loop.round();
  host->leadership.leave();
  db_.execute("RENAME TABLE elsewhere TO task_unique");
  EXPECT_EQ(value("SELECT GROUP_CONCAT(duty) FROM queue_duty WHERE last_error LIKE '%task_unique%'"
                  " AND duty = 'unique'"),
            "unique");
}

}  // namespace
}  // namespace allot::steward
