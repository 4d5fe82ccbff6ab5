// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/clock.h"
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

  Daemon daemon_{{.workers = 4}};
};

TEST_F(Pause, NothingStartsUntilItIsResumed) {
  ASSERT_TRUE(eventually([&] { return daemon_.logged("worker.ready"); }));
  act({"queue", "pause", "default", "--reason", "test"});
  const auto id = daemon_.submit("test.write", "one");
  // Another queue would show that the scout looks; here its looks are counted by the database.
  ASSERT_TRUE(eventually([&] { return daemon_.times_logged("worker.ready") == 4; }));
  const auto scouts = [&] {
    return daemon_.connect().execute("SHOW GLOBAL STATUS LIKE 'Com_select'").front().next()->u64(1);
  };
  const auto before = scouts();
  ASSERT_TRUE(eventually([&] { return scouts() > before + 20; }));
  EXPECT_TRUE(daemon_.written().empty());
  EXPECT_EQ(daemon_.task(id)["state"], "waiting");
  act({"queue", "resume", "default"});
  EXPECT_TRUE(eventually([&] { return daemon_.written() == std::vector<std::string>{"one"}; }));
}

// Submitted without end while it is paused: what runs finishes, and within about a second (the
// block_seconds of those who have a lease) nothing more starts.
TEST_F(Pause, UnderLoadTheWorkersLetGoAndNothingIsLost) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 20'000; ++i) payloads.push_back("task-" + std::to_string(i));
  daemon_.submit_many("test.write", payloads);
  ASSERT_TRUE(eventually([&] { return !daemon_.written().empty(); })) << daemon_.log();
  act({"queue", "pause", "default"});
  const Nanos paused = mono_ns();
  ASSERT_TRUE(eventually([&] { return nobody_leases(); })) << daemon_.log();
  EXPECT_LT(mono_ns() - paused, 10 * kSecond) << "block_seconds is 1 s, and this machine is slow";
  const auto written = daemon_.written().size();
  daemon_.submit_many("test.write", {"late"});
  if (written < payloads.size()) EXPECT_GT(daemon_.count("task"), 1U);
  EXPECT_EQ(daemon_.written().size(), written);
  act({"queue", "resume", "default"});
  ASSERT_TRUE(eventually([&] { return daemon_.drained(); }, std::chrono::seconds(60)));
  EXPECT_EQ(daemon_.written().size(), payloads.size() + 1);
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
