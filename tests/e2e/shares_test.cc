// SPDX-License-Identifier: Apache-2.0
// Pools with weights, and strict ones: leases of a daemon's workers, from its log.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "e2e/daemon.h"

namespace allot::e2e::shares_test {
namespace {

using support::eventually;

constexpr std::size_t kLeases = 1200;
constexpr const char* kQueues =
    "[queues.mail]\nblock_size = 1\nblock_seconds = \"10ms\"\n"
    "[queues.reports]\nblock_size = 1\nblock_seconds = \"10ms\"\n";

// Each task takes longer than block_seconds, so a lease has one.
void fill(const Daemon& daemon, const std::string& queue, std::size_t tasks) {
  std::vector<nlohmann::json> all(tasks,
                                  {{"queue", queue}, {"type", "test.stay"}, {"payload", "12"}});
  daemon.submit_all(all);
}

// The queues of the first leases, with their counts.
std::map<std::string, std::size_t> first_leases(const Daemon& daemon, std::size_t most) {
  std::map<std::string, std::size_t> leases;
  const std::string log = daemon.log();
  const std::string word = " lease queue=";
  std::size_t count = 0;
  for (std::size_t at = log.find(word); at != std::string::npos && count < most;
       at = log.find(word, at + 1), ++count) {
    const std::size_t begin = at + word.size();
    ++leases[log.substr(begin, log.find(' ', begin) - begin)];
  }
  return leases;
}

TEST(Shares, LeasesOfFullQueuesKeepToTheWeights) {
  Daemon daemon({.workers = 4,
                 .pool_keys = "queues = [\"mail\", \"reports\"]\n"
                              "weights = { mail = 3, reports = 1 }",
                 .more = kQueues,
                 .start = false});
  fill(daemon, "mail", 2000);
  fill(daemon, "reports", 1000);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.times_logged(" lease queue=") >= kLeases; },
                         std::chrono::minutes(2)))
      << daemon.log();
  auto leases = first_leases(daemon, kLeases);
  ASSERT_GT(daemon.number("SELECT COUNT(*) FROM task JOIN queue USING (queue_id)"
                          " WHERE name = 'mail'"),
            0U)
      << "both were full";
  const double ratio = static_cast<double>(leases["mail"]) /
                       static_cast<double>(std::max<std::size_t>(leases["reports"], 1));
  std::printf("%zu leases of mail, %zu of reports: %.3f\n", leases["mail"], leases["reports"],
              ratio);
  EXPECT_GT(ratio, 2.7);
  EXPECT_LT(ratio, 3.3);
}

// Late tasks are taken before the backlog of the other queue.
TEST(Shares, AStrictPoolTakesTheHigherQueueFirst) {
  Daemon daemon({.workers = 1,
                 .pool_keys = "queues = [\"mail\", \"reports\"]\nstrict = true",
                 .more = kQueues,
                 .start = false});
  fill(daemon, "reports", 800);
  daemon.start();
  ASSERT_TRUE(eventually([&] { return daemon.logged(" lease queue=reports "); })) << daemon.log();
  fill(daemon, "mail", 60);
  const auto left = [&](const std::string& queue) {
    return daemon.number("SELECT COUNT(*) FROM task JOIN queue USING (queue_id) WHERE name = '" +
                         queue + "'");
  };
  ASSERT_TRUE(eventually([&] { return left("mail") == 0; }, std::chrono::minutes(1)));
  EXPECT_GT(left("reports"), 0U);
  // Reports are not leased between the first and the last lease of mail.
  const std::string log = daemon.log();
  std::size_t others = 0;
  const std::string word = " lease queue=reports ";
  for (std::size_t at = log.find(word, log.find(" lease queue=mail "));
       at < log.rfind(" lease queue=mail "); at = log.find(word, at + 1)) {
    ++others;
  }
  EXPECT_EQ(others, 0U) << log;
}

}  // namespace
}  // namespace allot::e2e::shares_test
