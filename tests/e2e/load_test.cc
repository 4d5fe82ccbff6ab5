// SPDX-License-Identifier: Apache-2.0
//
// Many workers and submitters at once: no deadlock, no lock wait that times out, nothing lost.
#include <gtest/gtest.h>

#include <thread>

#include "e2e/daemon.h"

namespace allot::e2e::load_test {
namespace {

using support::eventually;

// Sanitizers make the programs ten times slower and larger; their runs do not check the number.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned kWorkers = 12;
constexpr int kRounds = 1;
#else
constexpr unsigned kWorkers = 64;
constexpr int kRounds = 20;
#endif
constexpr int kSubmitters = 4;
constexpr int kTasksPerRound = 2'500;

std::uint64_t server_counter(db::Connection& db, const std::string& name) {
  return db
      .execute("SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = '" + name + "'")
      .front()
      .next()
      ->u64(0);
}

TEST(Load, ManyWorkersAndSubmittersWithoutADeadlock) {
  support::Database& server = support::Database::shared();
  auto root = server.connect();
  root.execute("SET GLOBAL innodb_monitor_enable = 'lock_deadlocks'");
  root.execute("SET GLOBAL innodb_monitor_enable = 'lock_timeouts'");
  const auto deadlocks = server_counter(root, "lock_deadlocks");
  const auto timeouts = server_counter(root, "lock_timeouts");

  Daemon daemon({.workers = kWorkers, .queue_keys = "partitions = 64", .log_level = "info"});
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("worker worker.ready") == kWorkers; },
                         std::chrono::seconds(120)));
  const auto submit = [&] {
    const std::vector<std::string> payloads(kTasksPerRound, "x");
    for (int i = 0; i < kRounds; ++i) daemon.submit_many("test.ok", payloads);
  };
  std::vector<std::thread> submitters;
  submitters.reserve(kSubmitters);
  for (int i = 0; i < kSubmitters; ++i) submitters.emplace_back(submit);
  for (std::thread& submitter : submitters) submitter.join();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); }, std::chrono::seconds(240)));

  std::uint64_t done = 0;
  const auto seen = daemon.status();
  for (const auto& worker : seen["workers"]) {
    done += worker["done"].get<std::uint64_t>();
    EXPECT_EQ(worker["deadlocks"], 0) << worker;
    EXPECT_EQ(worker["lock_waits"], 0) << worker;
  }
  EXPECT_EQ(done, std::uint64_t{kSubmitters} * kRounds * kTasksPerRound);
  EXPECT_EQ(server_counter(root, "lock_deadlocks"), deadlocks);
  EXPECT_EQ(server_counter(root, "lock_timeouts"), timeouts);
  EXPECT_FALSE(daemon.logged("database.retry")) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0}));
}

}  // namespace
}  // namespace allot::e2e::load_test
