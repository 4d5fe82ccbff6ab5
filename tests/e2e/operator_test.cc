// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "db/connection.h"
#include "e2e/daemon.h"

namespace allot::e2e::operator_test {
namespace {

using support::eventually;

class Pause : public testing::Test {
 protected:
  Daemon daemon_{{.workers = 4, .more = "[queues.other]\n"}};
};

// One scout's poll covers all queues: while it finds tasks of the other one, it does not find this
// one's.
TEST_F(Pause, NothingStartsUntilItIsResumed) {
  daemon_.must({"queue", "pause", "default", "--reason", "test"});
  const auto id = daemon_.submit("test.write", "paused");
  std::vector<std::string> others;
  for (const char* payload : {"1", "2", "3"}) {
    daemon_.must({"submit", "other", "test.write", payload});
    others.emplace_back(payload);
    ASSERT_TRUE(eventually([&] { return daemon_.written() == others; })) << daemon_.log();
  }
  EXPECT_EQ(daemon_.task(id)["state"], "waiting");
  daemon_.must({"queue", "resume", "default"});
  others.emplace_back("paused");
  EXPECT_TRUE(eventually([&] { return daemon_.written() == others; })) << daemon_.log();
}

// Within about a second, the block_seconds of workers with a lease, no further task starts.
TEST_F(Pause, UnderLoadTheWorkersLetGoAndNothingIsLost) {
  daemon_.submit_many("test.sleep", std::vector<std::string>(4'000, "5"));
  ASSERT_TRUE(eventually([&] { return !daemon_.busy_workers().empty(); })) << daemon_.log();
  daemon_.must({"queue", "pause", "default"});
  // From then on the pause is in force.
  ASSERT_TRUE(eventually([&] { return daemon_.leases() == 0; })) << daemon_.log();
  const auto left = daemon_.count("task");
  ASSERT_GT(left, 0U) << "4 workers need 5 s for them, and let go after 1 s";
  daemon_.must({"submit", "other", "test.write", "seen"});
  ASSERT_TRUE(eventually([&] { return daemon_.written().size() == 1; })) << daemon_.log();
  ASSERT_TRUE(eventually([&] { return daemon_.count("task") <= left; })) << daemon_.log();
  EXPECT_EQ(daemon_.count("task"), left);
  daemon_.must({"queue", "resume", "default"});
  EXPECT_TRUE(daemon_.drains());
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

TEST_F(Pause, ARunningTaskFinishes) {
  const auto id = daemon_.submit("test.gate", "success " + daemon_.gate());
  ASSERT_TRUE(eventually([&] { return daemon_.busy_workers().size() == 1; })) << daemon_.log();
  daemon_.must({"queue", "pause", "default"});
  daemon_.open_gate();
  EXPECT_TRUE(eventually([&] { return daemon_.task(id).is_null(); })) << daemon_.log();
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

// It runs again with all its attempts, and the records before the retry are kept.
TEST(Dead, ARetriedTaskRunsAgain) {
  Daemon daemon({.queue_keys = "max_attempts = 2\nretry_delays = [\"10ms\"]"});
  const auto id = daemon.submit("test.retry", "never works");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto done = daemon.allot({"dead", "retry", id});
  ASSERT_EQ(done.status.code, 0) << done.err;
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("task.dead task=" + id) == 2; }))
      << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  const auto attempts = daemon.task(id)["attempts"];
  ASSERT_EQ(attempts.size(), 4U) << attempts;
  EXPECT_EQ(attempts[1]["retries_since"], 1);
  EXPECT_EQ(attempts[1]["attempt"], 2);
  EXPECT_EQ(attempts[2]["retries_since"], 0);
  EXPECT_EQ(attempts[2]["attempt"], 1);
}

// A task that succeeds the second time leaves no rows of either run.
TEST(Dead, ARetriedTaskThatFinishesLeavesNothing) {
  Daemon daemon({.queue_keys = "partitions = 1"});
  const auto id = daemon.submit("test.fail", "never");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  daemon.connect().execute(
      "UPDATE task_dead SET type = 'test.write' WHERE queue_id = 1 AND"
      " partition_no = 0 AND prio = 1");
  ASSERT_EQ(daemon.allot({"dead", "retry", id}).status.code, 0);
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; })) << daemon.log();
  EXPECT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  for (const char* table : {"task_dead", "task_moved", "task_attempt"}) {
    EXPECT_TRUE(eventually([&] { return daemon.count(table) == 0; })) << table;
  }
}

TEST(Why, UnknownTypeAndRunningTask) {
  Daemon daemon({.queue_keys = "detach_after = \"0s\""});
  const auto reason = [&](const std::string& id) {
    const auto told = daemon.allot({"why", id, "--json"});
    if (told.status.code != 0) return std::string("gone");
    return nlohmann::json::parse(told.out).at("reasons").at(0).at("reason").get<std::string>();
  };
  const auto unknown = daemon.submit("unknown.type", "x");
  EXPECT_TRUE(eventually([&] { return reason(unknown) == "no_handler"; })) << daemon.log();
  const auto done = daemon.allot({"task", "cancel", unknown, "--reason", "a typing error"});
  EXPECT_EQ(done.status.code, 0) << done.err;
  EXPECT_EQ(reason(unknown), "cancelled");
  const auto slow = daemon.submit("test.sleep", "60000");
  EXPECT_TRUE(eventually([&] { return reason(slow) == "running"; })) << daemon.log();
  daemon.stop(SIGQUIT);
}

// There the task keeps its place, and the partition waits.
TEST(Why, UnknownTypeInAnOrderedQueue) {
  Daemon daemon({.queue_keys = "placement = \"ordered\""});
  const auto submitted =
      daemon.allot({"submit", "default", "unknown.type", "x", "--partition-key", "a"});
  ASSERT_EQ(submitted.status.code, 0) << submitted.err;
  const std::string id = submitted.out.substr(0, submitted.out.find('\n'));
  const auto why = [&] { return daemon.allot({"why", id}).out; };
  EXPECT_TRUE(eventually([&] {
    const std::string told = why();
    return told.find("handler for its type") != std::string::npos &&
           told.find("its partition waits until") != std::string::npos;
  })) << why()
      << daemon.log();
  EXPECT_TRUE(daemon.logged("task.no_handler task=" + id + " type=unknown.type queue=default"))
      << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::operator_test
