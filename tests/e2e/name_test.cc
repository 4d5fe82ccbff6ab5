// SPDX-License-Identifier: Apache-2.0
// S79: the longest type keeps its whole name in every trace of the worker that runs it.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/names.h"
#include "e2e/daemon.h"
#include "meter/record.h"
#include "queue/minutes/minute.h"

namespace allot::e2e::name_test {
namespace {

using nlohmann::json;
using support::eventually;

// The longest types of a handler; they differ in their last byte.
std::string longest(char last) {
  const std::string prefix = "test.hang_once.";
  return prefix + std::string(kMaxTypeName - 1 - prefix.size(), 'x') + last;
}

json running(const Daemon& daemon) {
  const json status = daemon.status();
  for (const json& worker : status.at("workers")) {
    if (!worker.at("running").empty()) return worker.at("running").at(0);
  }
  return {};
}

// Kills the worker that runs the single task of this type.
void kill_the_worker_of(const Daemon& daemon, const std::string& type) {
  ASSERT_TRUE(eventually([&] { return !running(daemon).is_null(); })) << daemon.log();
  EXPECT_EQ(running(daemon).at("type"), type) << "in the slot";
  ASSERT_EQ(support::send_signal(daemon.busy_workers().at(0), SIGKILL), 0);
}

TEST(Names, TheLongestTypeIsWholeEverywhere) {
  const std::string buried = longest('a');
  const std::string retried = longest('b');
  Daemon daemon({.workers = 1,
                 .more = "[types.\"" + buried +
                         "\"]\nmax_attempts = 1\n[metrics]\ntypes = [\"test.hang_once.*\"]\n"});
  wait_ready(daemon, 1);
  const std::string dead = daemon.submit(buried, "");
  kill_the_worker_of(daemon, buried);
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_EQ(daemon.task(dead).at("type"), buried);
  (void)daemon.submit(retried, "");
  kill_the_worker_of(daemon, retried);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 1U) << "the policy of the other type";

  const json groups = json::parse(daemon.must({"dead", "groups", "default", "--json"}));
  ASSERT_EQ(groups.size(), 1U) << groups;
  EXPECT_EQ(groups[0].at("type"), buried);

  const std::string metrics = daemon.must({"metrics"});
  for (const std::string& type : {buried, retried}) {
    EXPECT_NE(metrics.find("type=\"" + type + "\""), std::string::npos) << metrics;
  }

  const std::string unknown = std::string(kMaxTypeName, 'u');
  const std::string id = daemon.submit(unknown, "");
  EXPECT_TRUE(eventually([&] {
    return daemon.must({"why", id}).find("'" + unknown + "'") != std::string::npos;
  })) << daemon.must({"why", id});

  // The steward writes the rest when it exits.
  ASSERT_TRUE(eventually([&] { return daemon.steward() != 0; })) << daemon.log();
  ASSERT_TRUE(daemon.stop());
  EXPECT_EQ(daemon.number("SELECT SUM(dead) FROM attempt_minute WHERE type = '" + buried +
                          "' AND error_group = ''"),
            1U);
  EXPECT_EQ(daemon.number("SELECT SUM(retried) FROM attempt_minute WHERE type = '" + retried +
                          "' AND error_group = ''"),
            1U);
}

// The case of docs/monitoring.md: 300 types in 3 queues, 16 workers.
TEST(Names, CostOf300Types) {
  Daemon daemon({.workers = 16,
                 .more = "[queues.second]\n[queues.third]\n[metrics]\ntypes = [\"test.ok.*\"]\n"});
  wait_ready(daemon, 16);
  std::vector<json> tasks;
  for (int i = 0; i < 3600; ++i) {
    const char* const queues[] = {"default", "second", "third"};
    const std::string name = "test.ok.App.Jobs.Shop.SendInvoice" + std::to_string(100 + i / 12);
    tasks.push_back({{"queue", queues[i % 3]}, {"type", name}, {"payload", ""}});
  }
  daemon.submit_all(tasks);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const std::string by_type = daemon.must({"metrics"});
  daemon.configure("types = [\"test.ok.*\"]", "types = []");
  const std::string by_queue = daemon.must({"metrics"});
  ASSERT_TRUE(eventually([&] { return daemon.steward() != 0; })) << daemon.log();
  ASSERT_TRUE(daemon.stop());
  EXPECT_EQ(daemon.number("SELECT SUM(done) FROM attempt_minute"), 3600U) << "also those in other";
  EXPECT_EQ(daemon.number("SELECT SUM(done) FROM type_hour"), 3600U) << "likewise";
  const std::uint64_t rows = daemon.number(
      "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM attempt_minute GROUP BY write_no) w");
  const std::uint64_t marks = daemon.number("SELECT LENGTH(totals) FROM instance");
  std::printf(
      "meter file %zu bytes; scrape %zu bytes by type, %zu by queue; at most %llu rows a "
      "write; marks %llu bytes\n",
      sizeof(meter::Record), by_type.size(), by_queue.size(), static_cast<unsigned long long>(rows),
      static_cast<unsigned long long>(marks));
  EXPECT_LT(sizeof(meter::Record), std::size_t{384} * 1024);
  EXPECT_LE(rows, queue::kMinutePairs + queue::kMinuteErrors + 2);
  EXPECT_LT(by_queue.size(), by_type.size() / 20);
  EXPECT_LT(marks, 200'000U);
}

}  // namespace
}  // namespace allot::e2e::name_test
