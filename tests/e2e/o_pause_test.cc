// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "db/connection.h"
#include "e2e/daemon.h"

namespace allot::e2e {
namespace {

using support::eventually;

class Pause : public testing::Test {
 protected:
  void act(const std::vector<std::string>& words) const {
    const auto done = daemon_.allot(words);
    EXPECT_EQ(done.status.code, 0) << done.err;
  }
  // No worker has a lease: from here on the pause is in force.
  [[nodiscard]] bool nobody_leases() const {
    return daemon_.connect()
               .execute("SELECT COUNT(*) FROM q_lock_table WHERE state <> 'FREE'")
               .front()
               .next()
               ->u64(0) == 0;
  }

  Daemon daemon_{{.workers = 4, .more = "[queues.other]\n"}};
};

// One scout's look is at all queues: while those of the other one are found, this one's is not.
TEST_F(Pause, NothingStartsUntilItIsResumed) {
  act({"queue", "pause", "default", "--reason", "test"});
  const auto id = daemon_.submit("test.write", "paused");
  std::vector<std::string> others;
  for (const char* payload : {"1", "2", "3"}) {
    act({"submit", "other", "test.write", payload});
    others.emplace_back(payload);
    ASSERT_TRUE(eventually([&] { return daemon_.written() == others; })) << daemon_.log();
  }
  EXPECT_EQ(daemon_.task(id)["state"], "waiting");
  act({"queue", "resume", "default"});
  others.emplace_back("paused");
  EXPECT_TRUE(eventually([&] { return daemon_.written() == others; })) << daemon_.log();
}

// Within about a second, the block_seconds of those who have a lease, nothing more starts.
TEST_F(Pause, UnderLoadTheWorkersLetGoAndNothingIsLost) {
  daemon_.submit_many("test.sleep", std::vector<std::string>(4'000, "5"));
  ASSERT_TRUE(eventually([&] { return !daemon_.busy_workers().empty(); })) << daemon_.log();
  act({"queue", "pause", "default"});
  ASSERT_TRUE(eventually([&] { return nobody_leases(); })) << daemon_.log();
  const auto left = daemon_.count("task");
  ASSERT_GT(left, 0U) << "4 workers need 5 s for them, and let go after 1 s";
  act({"submit", "other", "test.write", "seen"});
  ASSERT_TRUE(eventually([&] { return daemon_.written().size() == 1; })) << daemon_.log();
  EXPECT_EQ(daemon_.count("task"), left);
  act({"queue", "resume", "default"});
  EXPECT_TRUE(eventually([&] { return daemon_.drained(); }, std::chrono::seconds(60)));
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

TEST_F(Pause, ARunningTaskFinishes) {
  const auto id = daemon_.submit("test.sleep", "1500");
  ASSERT_TRUE(eventually([&] { return daemon_.busy_workers().size() == 1; })) << daemon_.log();
  act({"queue", "pause", "default"});
  EXPECT_TRUE(eventually([&] { return daemon_.task(id).is_null(); })) << daemon_.log();
  EXPECT_EQ(daemon_.count("task_dead"), 0U);
}

}  // namespace
}  // namespace allot::e2e
