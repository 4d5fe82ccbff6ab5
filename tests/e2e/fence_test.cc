// SPDX-License-Identifier: Apache-2.0
// A worker's lease is taken while the worker is in a handler.
#include <gtest/gtest.h>

#include "e2e/daemon.h"

namespace allot::e2e::fence_test {
namespace {

using support::eventually;

class Fence : public testing::Test {
 protected:
  // One worker in the handler of the first task of a block. `next` waits after it.
  void begin(const std::string& verdict, const std::string& next, const std::string& keys = {}) {
    daemon_ = std::make_unique<Daemon>(DaemonOptions{
        .workers = 1, .queue_keys = "partitions = 1\nmax_attempts = 1", .daemon_keys = keys});
    daemon_->submit_all({{{"type", "test.gate"}, {"payload", verdict + " " + daemon_->gate()}},
                         {{"type", next}, {"payload", "neighbour"}}});
    ASSERT_TRUE(eventually([&] { return daemon_->busy_workers().size() == 1; })) << daemon_->log();
  }

  // Simulates another host that saw it standing still. As the thief is idle, its lease is taken
  // over a second after `ttl`.
  void steal(std::chrono::seconds ttl = std::chrono::minutes(10)) {
    daemon_->connect().execute(
        "UPDATE q_lock_table SET epoch = epoch + 1, lock_by = 4711, lock_origin = 4711,"
        " lock_host = 'thief', lock_instance = 'x', lock_pid = 1, state = 'LOCKED',"
        " detail_epoch = epoch, ttl_us = " +
        std::to_string(ttl.count()) +
        "000000,"
        " expire_at = UTC_TIMESTAMP(6) + INTERVAL 600 SECOND WHERE state <> 'FREE'");
  }
  // Rows that a late worker must not change: tasks, their attempts, and the thief's lease.
  [[nodiscard]] std::string rows() const {
    return daemon_->value(
        "SELECT CONCAT_WS(' | ',"
        " (SELECT GROUP_CONCAT(run_key, ' ', attempt, ' ', COALESCE(first_key, '-')"
        "   ORDER BY run_key) FROM task),"
        " (SELECT COUNT(*) FROM task_moved), (SELECT COUNT(*) FROM task_attempt),"
        " (SELECT COUNT(*) FROM task_dead),"
        " (SELECT GROUP_CONCAT(epoch, ' ', lock_by, ' ', state) FROM q_lock_table))");
  }
  [[nodiscard]] nlohmann::json worker() const { return daemon_->status()["workers"].at(0); }
  bool left() {
    return eventually([&] { return worker()["partition"].is_null(); });
  }

  std::unique_ptr<Daemon> daemon_;
};

TEST_F(Fence, AVerdictThatComesTooLateChangesNothing) {
  for (const char* verdict : {"retry", "fail", "throw", "snooze", "release"}) {
    begin(verdict, "test.write");
    steal();
    const std::string before = rows();
    daemon_->open_gate();
    ASSERT_TRUE(eventually([&] { return daemon_->logged("lease.lost"); })) << daemon_->log();
    ASSERT_TRUE(left()) << verdict;
    EXPECT_EQ(rows(), before) << verdict;
    EXPECT_TRUE(daemon_->written().empty()) << "the rest of the block is dropped: " << verdict;
    EXPECT_EQ(daemon_->times_logged("lease.lost"), 1U) << daemon_->log();
    EXPECT_EQ(worker()["leases_lost"], 1) << verdict;
    EXPECT_EQ(worker()["retried"], 0) << verdict;
    EXPECT_EQ(worker()["dead"], 0) << verdict;
  }
}

// A finished task is finished (S6), but the thief keeps its lease.
TEST_F(Fence, ALateAcknowledgementIsOneAndALateReleaseIsNone) {
  begin("ok", "unknown.type");
  steal();
  const std::string key = daemon_->value("SELECT MAX(run_key) FROM task");
  daemon_->open_gate();
  ASSERT_TRUE(eventually([&] { return daemon_->logged("lease.lost"); })) << daemon_->log();
  ASSERT_TRUE(left());
  EXPECT_NE(rows().find(key + " 0 - | 0 | 0 | 0 | "), std::string::npos)
      << "only its neighbour, of an unknown type, in its old place: " << rows();
  EXPECT_NE(rows().find(" 4711 LOCKED"), std::string::npos) << rows();
  EXPECT_EQ(daemon_->times_logged("lease.lost"), 1U) << daemon_->log();
  EXPECT_EQ(worker()["deferred"], 0);
}

TEST_F(Fence, LostLeaseIsNotReportedTwice) {
  begin("fail", "test.write", "lease_ttl = \"6s\"");
  steal(std::chrono::seconds(1));
  ASSERT_TRUE(eventually([&] { return daemon_->logged("lease.lost"); })) << daemon_->log();
  EXPECT_TRUE(daemon_->logged("statement=renew")) << daemon_->log();
  daemon_->open_gate();
  // The thief is stopped, so that its lease is taken over after a second (S4).
  ASSERT_TRUE(eventually([&] { return daemon_->drained(); })) << daemon_->log();
  EXPECT_EQ(daemon_->times_logged("lease.lost"), 1U) << daemon_->log();
  EXPECT_EQ(worker()["leases_lost"], 1);
  EXPECT_EQ(daemon_->times_logged("lease.takeover"), 1U) << daemon_->log();
  EXPECT_EQ(daemon_->count("task_dead"), 1U) << "by the verdict under the new lease";
  EXPECT_EQ(daemon_->written().size(), 1U);
}

}  // namespace
}  // namespace allot::e2e::fence_test
