// SPDX-License-Identifier: Apache-2.0
// A host's counts continue whatever happens to its workers, and stay bounded for any number of
// types.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "base/version.h"
#include "e2e/daemon.h"
#include "support/prometheus_text.h"

namespace allot::e2e::metrics_test {
namespace {

using support::eventually;
using support::ExitStatus;
using support::fallen;
using support::PrometheusText;

PrometheusText metrics(const Daemon& daemon) {
  const support::Finished printed = daemon.allot({"metrics"});
  EXPECT_EQ(printed.status, (ExitStatus{0, 0})) << printed.err;
  PrometheusText text(printed.out);
  EXPECT_EQ(text.fault, "");
  return text;
}

double done(const PrometheusText& text, const std::string& type) {
  return text.value("allot_tasks_total{queue=\"default\",type=\"" + type + "\",outcome=\"done\"}");
}

// A daemon whose metrics show the types of the probe.
DaemonOptions showing_types(DaemonOptions options) {
  options.more += "[metrics]\ntypes = [\"test.*\"]\n";
  return options;
}

// Submits this number of successful tasks, and waits for their ends.
void run_some(const Daemon& daemon, unsigned tasks) {
  daemon.submit_many("test.ok", std::vector<std::string>(tasks, ""));
  ASSERT_TRUE(daemon.drains()) << daemon.log();
}

TEST(Metrics, CountWhatBecameOfTasks) {
  Daemon daemon(showing_types({.workers = 2, .queue_keys = "max_attempts = 2\n"}));
  wait_ready(daemon, 2);
  run_some(daemon, 5);
  (void)daemon.submit("test.fail", "");
  (void)daemon.submit("test.retry", "");
  (void)daemon.submit("test.nap", "60");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.steward() != 0; })) << daemon.log();
  const PrometheusText text = metrics(daemon);
  EXPECT_EQ(done(text, "test.ok"), 5);
  EXPECT_EQ(text.sum("allot_tasks_total", "type=\"test.fail\",outcome=\"dead\""), 1);
  EXPECT_EQ(text.sum("allot_tasks_total", "type=\"test.retry\",outcome=\"retried\""), 1);
  EXPECT_EQ(text.sum("allot_tasks_total", "type=\"test.retry\",outcome=\"dead\""), 1);
  EXPECT_EQ(text.sum("allot_task_runtime_seconds_count", "type=\"test.ok\""), 5);
  EXPECT_EQ(text.sum("allot_task_runtime_seconds_bucket", "type=\"test.nap\",le=\"0.05\""), 0);
  EXPECT_EQ(text.sum("allot_task_runtime_seconds_bucket", "type=\"test.nap\",le=\"60\""), 1);
  EXPECT_GE(text.sum("allot_task_runtime_seconds_sum", "type=\"test.nap\""), 0.06);
  EXPECT_EQ(text.value("allot_daemon_up"), 1);
  EXPECT_EQ(text.sum("allot_workers", "pool=\"default\""), 2);
  EXPECT_EQ(text.value("allot_stewards"), 1);
  EXPECT_EQ(text.value("allot_worker_starts_total"), 2);
  EXPECT_GE(text.value("allot_leases_total"), 1);
  EXPECT_EQ(text.value("allot_queue_dead_tasks{queue=\"default\"}"), 2);
  EXPECT_EQ(text.value("allot_database_up"), 1);
}

// Types missing in [metrics] types are one series of their queue.
TEST(Metrics, OtherTypesAreCountedByQueue) {
  Daemon daemon({.workers = 1, .more = "[metrics]\ntypes = [\"test.nap\"]\n"});
  wait_ready(daemon, 1);
  run_some(daemon, 5);
  (void)daemon.submit("test.nap", "1");
  (void)daemon.submit("test.fail", "");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const PrometheusText text = metrics(daemon);
  EXPECT_EQ(done(text, "test.nap"), 1);
  EXPECT_EQ(text.value("allot_tasks_total{queue=\"default\",outcome=\"done\"}"), 5);
  EXPECT_EQ(text.value("allot_tasks_total{queue=\"default\",outcome=\"dead\"}"), 1);
  EXPECT_EQ(text.value("allot_task_runtime_seconds_count{queue=\"default\"}"), 6);
}

// Whatever a worker was doing when it died, its successor in the slot continues the counts.
TEST(Metrics, GoOnWithTheNextWorkerOfASlot) {
  Daemon daemon(showing_types({.workers = 1}));
  wait_ready(daemon, 1);
  run_some(daemon, 20);
  const PrometheusText before = metrics(daemon);
  ASSERT_EQ(done(before, "test.ok"), 20);
  (void)daemon.submit("test.hang_once", "");
  ASSERT_TRUE(eventually([&] { return !daemon.written().empty(); })) << daemon.log();
  ASSERT_EQ(support::send_signal(daemon.busy_workers().at(0), SIGKILL), 0);
  wait_ready(daemon, 2);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.logged(" worker.settled "); })) << daemon.log();
  run_some(daemon, 3);
  const PrometheusText after = metrics(daemon);
  EXPECT_EQ(fallen(before, after), "");
  EXPECT_EQ(done(after, "test.ok"), 23);
  EXPECT_EQ(done(after, "test.hang_once"), 1);
  EXPECT_EQ(after.sum("allot_tasks_crashed_total", "type=\"test.hang_once\""), 1);
  EXPECT_EQ(after.sum("allot_tasks_total", "type=\"test.hang_once\",outcome=\"retried\""), 1);
  EXPECT_EQ(after.value("allot_workers_settled_total"), 1);
  EXPECT_EQ(after.value("allot_worker_starts_total"), 2);
}

TEST(Metrics, GoOnOverReloadAndUpgrade) {
  Daemon daemon(showing_types({.workers = 2}));
  wait_ready(daemon, 2);
  run_some(daemon, 10);
  const PrometheusText before = metrics(daemon);
  daemon.process().signal(SIGHUP);
  wait_ready(daemon, 4);
  run_some(daemon, 10);
  const PrometheusText reloaded = metrics(daemon);
  EXPECT_EQ(fallen(before, reloaded), "");
  daemon.process().signal(SIGUSR2);
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("supervisor.start ") == 2; }))
      << daemon.log();
  run_some(daemon, 10);
  const PrometheusText upgraded = metrics(daemon);
  EXPECT_EQ(fallen(reloaded, upgraded), "");
  EXPECT_EQ(done(upgraded, "test.ok"), 30);
}

// Total of a type over all minutes.
std::uint64_t in_minutes(const Daemon& daemon, const std::string& type, const char* what) {
  const support::Finished printed = daemon.allot({"minutes", "--by", "type", "--json"});
  EXPECT_EQ(printed.status, (ExitStatus{0, 0})) << printed.err;
  std::uint64_t all = 0;
  for (const auto& minute : nlohmann::json::parse(printed.out)) {
    if (minute.at("type") == type) all += minute.at(what).get<std::uint64_t>();
  }
  return all;
}

// A steward writes when it starts, when it exits, and once a minute in between.
TEST(Metrics, MinutesHaveEachAttemptOnceWhicheverProcessDies) {
  Daemon daemon({.workers = 2});
  wait_ready(daemon, 2);
  run_some(daemon, 7);
  for (std::size_t run = 2; run <= 3; ++run) {
    ASSERT_TRUE(eventually([&] { return daemon.steward() != 0; })) << daemon.log();
    ASSERT_EQ(support::send_signal(daemon.steward(), SIGKILL), 0);
    ASSERT_TRUE(eventually([&] { return daemon.times_logged("steward.ready ") == run; }))
        << daemon.log();
    ASSERT_TRUE(eventually([&] { return in_minutes(daemon, "test.ok", "done") == 7; }))
        << in_minutes(daemon, "test.ok", "done");
  }
  run_some(daemon, 3);
  ASSERT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(in_minutes(daemon, "test.ok", "done"), 10U);
  daemon.start();
  wait_ready(daemon, 3);
  run_some(daemon, 2);
  ASSERT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(in_minutes(daemon, "test.ok", "done"), 12U) << "another run";
  EXPECT_EQ(daemon.number("SELECT SUM(done) FROM type_hour WHERE type = 'test.ok'"), 12U);
  for (const std::string histogram : {"ran_", "wait_"}) {
    std::string all = histogram + "0";
    for (int i = 1; i < 20; ++i) all += " + " + histogram + std::to_string(i);
    EXPECT_EQ(daemon.number("SELECT SUM(" + all + ") FROM type_hour"), 12U) << histogram;
  }
  EXPECT_EQ(daemon.number("SELECT COUNT(*) FROM deployment"), 1U) << "it ran the same each time";
  const auto status = nlohmann::json::parse(daemon.allot({"status", "--json"}).out);
  ASSERT_EQ(status["instances"].size(), 1U);
  EXPECT_EQ(status["instances"][0]["version"], kVersion);
  EXPECT_FALSE(status["instances"][0]["silent"].get<bool>());
}

// Also under the name used for dead tasks.
TEST(Metrics, MinutesHaveTheGroupsOfErrors) {
  Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 2\n"});
  wait_ready(daemon, 1);
  (void)daemon.submit("test.retry", "");
  (void)daemon.submit("test.fail", "");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  ASSERT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  const auto minutes = nlohmann::json::parse(
      daemon.allot({"minutes", "--by", "error", "--step", "1h", "--json"}).out);
  const auto groups = nlohmann::json::parse(daemon.allot({"dead", "groups", "--json"}).out);
  ASSERT_EQ(groups.size(), 2U);
  std::uint64_t retried = 0;
  for (const auto& group : groups) {
    std::uint64_t dead = 0;
    for (const auto& minute : minutes) {
      if (minute["group"] != group["group"]) continue;
      EXPECT_EQ(minute["type"], group["type"]);
      EXPECT_NE(minute["error"], "");
      dead += minute["dead"].get<std::uint64_t>();
      retried += minute["retried"].get<std::uint64_t>();
    }
    EXPECT_EQ(dead, 1U) << minutes;
  }
  EXPECT_EQ(retried, 1U);
  const auto failures = nlohmann::json::parse(daemon.allot({"failures", "--json"}).out);
  ASSERT_EQ(failures.size(), 2U) << failures;
  EXPECT_EQ(failures[0]["type"], "test.retry") << "the largest first";
  EXPECT_EQ(failures[0]["retried"], 1);
  EXPECT_EQ(failures[0]["dead"], 1);
  for (const auto& failure : failures) {
    const auto& hours = failure["hours"];
    std::uint64_t failed = 0;
    for (const auto& hour : hours) failed += hour["failed"].get<std::uint64_t>();
    EXPECT_EQ(failed, failure["retried"].get<std::uint64_t>() + 1);
    const auto is_same = [&](const auto& group) { return group["group"] == failure["group"]; };
    const auto group = std::find_if(groups.begin(), groups.end(), is_same);
    ASSERT_NE(group, groups.end()) << failure;
    EXPECT_EQ(failure["newest_task"], (*group)["newest_task"]);
  }
}

// It runs again, so no dead task shows the error.
TEST(Metrics, FailuresNameATaskThatIsRetried) {
  Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 1000\n"});
  wait_ready(daemon, 1);
  const std::string task = daemon.submit("test.retry", "");
  ASSERT_TRUE(eventually([&] { return daemon.logged("task.retry"); })) << daemon.log();
  ASSERT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  const auto failures = nlohmann::json::parse(daemon.allot({"failures", "--json"}).out);
  ASSERT_EQ(failures.size(), 1U) << failures;
  EXPECT_EQ(failures[0]["newest_task"], task);
  EXPECT_TRUE(failures[0]["newest_at"].is_string());
}

TEST(Metrics, MinutesRefuseWhatTheyDoNotHave) {
  const Daemon daemon({.workers = 1, .start = false});
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"minutes", "--since", "8d"}, {"minutes", "--step", "90s"}}) {
    const support::Finished refused = daemon.allot(wrong);
    EXPECT_EQ(refused.status, (ExitStatus{kExitBadInput, 0})) << refused.err;
    EXPECT_NE(refused.err.find("must be whole minutes, 1m to "), std::string::npos) << refused.err;
  }
}

TEST(Metrics, StartFromZeroWithTheDaemon) {
  Daemon daemon(showing_types({.workers = 1}));
  wait_ready(daemon, 1);
  run_some(daemon, 4);
  ASSERT_EQ(daemon.stop(), (ExitStatus{0, 0})) << daemon.log();
  const PrometheusText stopped = metrics(daemon);
  EXPECT_EQ(stopped.value("allot_daemon_up"), 0);
  EXPECT_EQ(done(stopped, "test.ok"), 4) << "the last ones before a stop are wanted, too";
  daemon.start();
  wait_ready(daemon, 2);
  run_some(daemon, 1);
  EXPECT_EQ(done(metrics(daemon), "test.ok"), 1);
}

// Types come from submitters; they must fill neither memory nor a monitoring system.
TEST(Metrics, AreBoundedWhateverTypesThereAre) {
  constexpr unsigned kTypes = 10'000;
  Daemon daemon({.workers = 1,
                 .queue_keys = "dead_retention = \"1h\"\n",
                 .more = "[metrics]\ntypes = [\"no.such.*\"]\n",
                 .start = false});
  ASSERT_EQ(daemon.allot({"migrate"}).status.code, 0);
  std::vector<nlohmann::json> tasks;
  for (unsigned i = 0; i < kTypes; ++i) {
    tasks.push_back({{"type", "no.such." + std::to_string(i)}, {"payload", ""}});
  }
  daemon.submit_all(tasks);
  daemon.start();
  PrometheusText text(daemon.allot({"metrics"}).out);
  ASSERT_TRUE(eventually([&] {
    text = PrometheusText(daemon.allot({"metrics"}).out);
    return text.sum("allot_tasks_deferred_total") >= kTypes;
  })) << daemon.log();
  EXPECT_EQ(text.fault, "");
  std::size_t types = 0;
  for (const auto& [series, number] : text.series) {
    if (series.starts_with("allot_tasks_deferred_total{")) ++types;
  }
  EXPECT_LE(types, 513U);
  EXPECT_GE(text.value("allot_tasks_deferred_total{queue=\"default\"}"), kTypes - 512);
}

// If the database is unavailable, the rest is still printed.
TEST(Metrics, SayThatTheDatabaseIsAway) {
  Daemon daemon({.workers = 1,
                 .migrate = false,
                 .start = false,
                 .database_keys = "socket = \"/nowhere/sock\"\n"});
  const support::Finished printed = daemon.allot({"metrics"});
  EXPECT_EQ(printed.status.code, kExitUnavailable) << printed.err;
  const PrometheusText text(printed.out);
  EXPECT_EQ(text.fault, "");
  ASSERT_TRUE(text.series.contains("allot_database_up")) << printed.out;
  EXPECT_EQ(text.value("allot_database_up"), 0);
  EXPECT_EQ(text.sum("allot_queue_waiting_tasks"), 0);
}

}  // namespace
}  // namespace allot::e2e::metrics_test
