// SPDX-License-Identifier: Apache-2.0
// Duration of a handler: time limits, promises of progress, and the lease under it.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>

#include "base/clock.h"
#include "e2e/daemon.h"

namespace allot::e2e::limit_test {
namespace {

using support::Database;
using support::eventually;

std::string attempts_of(const nlohmann::json& task) {
  std::string text;
  for (const auto& attempt : task["attempts"]) {
    text += attempt["cause"].get<std::string>() + ": " + attempt["error"].get<std::string>() + "\n";
  }
  return text;
}

std::string type_with(const std::string& type, const std::string& keys) {
  return "[types.\"" + type + "\"]\n" + keys + "\n";
}

TEST(Limit, ATypeHasATimeOfItsOwn) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "max_attempts = 1",
                 .more = type_with("test.spin", "task_timeout = \"1s\"")});
  const auto id = daemon.submit("test.spin", "");
  (void)daemon.submit("test.stay", "2500");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 1U) << "the other type has an hour";
  EXPECT_EQ(attempts_of(daemon.task(id)).rfind("timeout: exceeded its time limit", 0), 0U)
      << daemon.task(id);
}

// A task's own limit replaces the one of its type, and applies to each attempt.
TEST(Limit, ATaskHasATimeOfItsOwn) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "max_attempts = 2\nretry_delays = [\"0s\"]",
                 .more = type_with("test.stay", "task_timeout = \"1s\"")});
  const auto spins =
      daemon.allot({"submit", "default", "test.spin", "--time-limit", "1s"}).out.substr(0, 16);
  (void)daemon.allot({"submit", "default", "test.stay", "2500", "--time-limit", "1h"});
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 1U) << "a longer limit counts, too";
  const auto task = daemon.task(spins);
  EXPECT_EQ(task["attempts"].size(), 2U) << task;
  EXPECT_EQ(task["time_limit_ms"], 1000);
  EXPECT_EQ(attempts_of(task).rfind("timeout: exceeded its time limit", 0), 0U) << task;
}

// Soft before hard: a handler that stops on request is not killed.
TEST(Limit, AHandlerIsAskedToStopFirst) {
  Daemon daemon({.workers = 1,
                 .queue_keys = "max_attempts = 1",
                 .more = type_with("test.sleep", "task_timeout = \"6s\"")});
  const auto id = daemon.submit("test.sleep", "60000");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_EQ(attempts_of(daemon.task(id)), "retry: asked to stop\n");
  EXPECT_FALSE(daemon.logged("worker.kill")) << daemon.log();
}

TEST(Limit, NoSignalHelpsAgainstTheLastOne) {
  Daemon daemon({.workers = 1, .more = type_with("test.deaf", "task_timeout = \"4s\"")});
  (void)daemon.submit("test.deaf", "");
  ASSERT_TRUE(eventually([&] { return daemon.written().size() == 1; })) << daemon.log();
  const pid_t child = std::stoi(daemon.written().front());
  EXPECT_TRUE(eventually([&] { return !support::alive(child); })) << "what it started goes with it";
  EXPECT_TRUE(eventually([&] { return daemon.drained(); })) << daemon.log();
  EXPECT_EQ(daemon.times_logged("reason=\"task ran over its time limit\""), 1U) << daemon.log();
}

// B3
TEST(Limit, HandlerWithoutPromisedProgressIsKilled) {
  Daemon daemon({.workers = 1, .queue_keys = "max_attempts = 1"});
  const auto id = daemon.submit("test.promise", "0");
  ASSERT_TRUE(eventually([&] { return daemon.count("task_dead") == 1; })) << daemon.log();
  EXPECT_TRUE(daemon.logged("reason=\"task made no progress\"")) << daemon.log();
  EXPECT_EQ(attempts_of(daemon.task(id))
                .rfind("timeout: made no progress for longer than its handler allows", 0),
            0U)
      << daemon.task(id);
}

TEST(Limit, HandlerWithProgressIsNotKilled) {
  Daemon daemon({.workers = 1, .daemon_keys = "lease_ttl = \"6s\""});
  (void)daemon.submit("test.promise", "8000");  // longer than the promise; then it hangs
  ASSERT_TRUE(eventually([&] { return daemon.times_logged("lease.renewed") >= 4; }))
      << daemon.log();
  EXPECT_FALSE(daemon.logged("worker.kill")) << daemon.log();
  EXPECT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.times_logged("reason=\"task made no progress\""), 1U) << daemon.log();
}

// Expiry of the single lease of queue "default", in microseconds since 1970; 0: not leased.
std::uint64_t expiry(Daemon& daemon) {
  return daemon.number(
      "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', MAX(expire_at)) FROM q_lock_table"
      " JOIN queue USING (queue_id) WHERE state <> 'FREE' AND name = 'default'");
}

// Stops the server right after a renewal, so that the lease ends at the returned time.
std::uint64_t after_a_renewal(Daemon& daemon) {
  const std::uint64_t before = expiry(daemon);
  std::uint64_t now = before;
  EXPECT_TRUE(eventually([&] { return (now = expiry(daemon)) != before; })) << daemon.log();
  return now;
}

std::uint64_t real_us() {
  return clock_ns(CLOCK_REALTIME) / kMicro;
}

// Time of the event's log line; the test may read it much later.
std::uint64_t logged_us(const Daemon& daemon, const std::string& event) {
  const std::string log = daemon.log();
  const std::size_t at = log.find(event);
  if (at == std::string::npos) return 0;
  const char* const line = log.c_str() + log.rfind('\n', at) + 1;
  std::tm utc{};
  ::strptime(line, "%Y-%m-%dT%H:%M:%S", &utc);
  const std::uint64_t ms = std::strtoul(line + std::strlen("2026-01-01T00:00:00."), nullptr, 10);
  return (static_cast<std::uint64_t>(::timegm(&utc)) * 1000 + ms) * 1000;
}

// A tenth of it is the margin of the process that ends the handler.
const std::string kLongLease = "lease_ttl = \"20s\"";
constexpr std::chrono::seconds kBeyondTheLease{40};

// S5. The database is silent: no renewal, no refusal.
TEST(Limit, InAnExclusiveQueueAHandlerEndsBeforeItsLease) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "exclusive = true",
                 .daemon_keys = kLongLease,
                 .more = "[queues.open]\n"});
  const auto id = daemon.submit("test.hang_once", "x");
  ASSERT_EQ(daemon.allot({"submit", "open", "test.stay", "30000"}).status.code, 0);
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 2; })) << daemon.log();
  pid_t victim = 0;
  const auto seen = daemon.status();
  for (const auto& worker : seen["workers"]) {
    if (worker["queue"] == "default") victim = worker["pid"].get<pid_t>();
  }
  ASSERT_GT(victim, 0) << seen;
  {
    const std::uint64_t ends = after_a_renewal(daemon);
    const Database::Stall stall(Database::shared());
    ASSERT_TRUE(eventually([&] { return daemon.logged(" worker.died "); }, kBeyondTheLease))
        << daemon.log();
    EXPECT_FALSE(support::alive(victim));
    EXPECT_TRUE(daemon.logged("reason=\"lease may be lost in an exclusive queue\""))
        << daemon.log();
    EXPECT_LT(logged_us(daemon, " worker.died "), ends) << daemon.log();
    // After the end of both leases; there the other one continues.
    ASSERT_TRUE(eventually([&] { return real_us() > ends + 500'000; }));
  }
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.written(), (std::vector<std::string>{"x attempt 1", "x attempt 2"}));
  EXPECT_EQ(daemon.times_logged("worker.kill"), 1U) << "elsewhere a handler runs on";
  EXPECT_TRUE(eventually([&] { return daemon.logged("task.crashed task=" + id); })) << daemon.log();
  EXPECT_TRUE(daemon.logged("its lease may have been lost")) << daemon.log();
}

// S5. allotd is gone as well, so no other process ends the handler.
TEST(Limit, InAnExclusiveQueueAnOrphanEndsBeforeItsLease) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "exclusive = true",
                 .daemon_keys = kLongLease,
                 .more = "[queues.open]\n"});
  (void)daemon.submit("test.hang_once", "x");
  ASSERT_EQ(daemon.allot({"submit", "open", "test.stay", "60000"}).status.code, 0);
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 2; })) << daemon.log();
  pid_t victim = 0;
  pid_t other = 0;
  const auto seen = daemon.status();
  for (const auto& worker : seen["workers"]) {
    (worker["queue"] == "default" ? victim : other) = worker["pid"].get<pid_t>();
  }
  const std::uint64_t ends = after_a_renewal(daemon);
  const Database::Stall stall(Database::shared());
  daemon.process().kill9();
  ASSERT_TRUE(eventually([&] { return support::gone(victim); }, kBeyondTheLease)) << daemon.log();
  ASSERT_TRUE(daemon.logged("worker.orphan_lease")) << daemon.log();
  EXPECT_LT(logged_us(daemon, " worker.orphan_lease "), ends) << daemon.log();
  ASSERT_TRUE(eventually([&] { return real_us() > ends + 500'000; }));
  EXPECT_FALSE(support::gone(other)) << "elsewhere a handler runs on";
  support::send_signal(other, SIGKILL);
}

// Runs a block of short tasks under `trouble`, which has to outlast the lease: no task starts after
// its end, and each runs once.
void run_block_in(const std::function<void(Daemon&, const std::function<void()>&)>& trouble) {
  Daemon daemon({.workers = 1,
                 .queue_keys = "partitions = 1\nblock_seconds = \"1h\"",
                 .daemon_keys = "lease_ttl = \"6s\"\nfrozen_after = \"5500ms\""});
  daemon.submit_many("test.stamp", std::vector<std::string>(300, ""));
  ASSERT_TRUE(eventually([&] { return daemon.written().size() >= 3; })) << daemon.log();
  const std::uint64_t ends = after_a_renewal(daemon);
  std::uint64_t back = 0;
  trouble(daemon, [&] {
    ASSERT_TRUE(eventually([&] { return real_us() > ends + 2'000'000; }));
    back = real_us();
  });
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto stamps = daemon.written();
  EXPECT_EQ(stamps.size(), 300U) << "what was finished is acknowledged, not repeated";
  for (const std::string& stamp : stamps) {
    const std::uint64_t at = std::stoull(stamp);
    EXPECT_TRUE(at < ends || at > back) << at << " is between " << ends << " and " << back;
  }
  EXPECT_FALSE(daemon.logged("worker.kill")) << "a slow database is not a frozen worker\n"
                                             << daemon.log();
}

TEST(Limit, NoTaskOfTheBlockStartsBeyondTheLeaseWhenTheServerIsSilent) {
  run_block_in([](Daemon&, const std::function<void()>& outlast) {
    const Database::Stall stall(Database::shared());
    outlast();
  });
}

// Everything else works, including acknowledgements: otherwise the block could continue for ever.
TEST(Limit, NoTaskOfTheBlockStartsBeyondTheLeaseWhenOnlyItsRenewalFails) {
  run_block_in([](Daemon& daemon, const std::function<void()>& outlast) {
    auto db = daemon.connect();
    db.execute("BEGIN; SELECT * FROM q_lock_table FOR UPDATE");
    outlast();
    db.execute("COMMIT");
  });
}

// The handler kept its time; the database takes longer for its verdict.
TEST(Limit, TheTimeOfTheDatabaseIsNotThatOfTheTask) {
  for (const char* exclusive : {"false", "true"}) {
    Daemon daemon({.workers = 1,
                   .queue_keys = std::string("exclusive = ") + exclusive,
                   .daemon_keys = "lease_ttl = \"6s\"",
                   .more = type_with("test.bloat_on_go", "task_timeout = \"6s\"")});
    const auto id = daemon.submit("test.bloat_on_go", "x");  // a retry after one second
    ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
    {
      const Database::Stall stall(Database::shared());
      ASSERT_TRUE(std::ofstream(daemon.folder() + "/written.go").good());
      ASSERT_TRUE(eventually([&] { return daemon.logged("task.ran"); })) << daemon.log();
      const std::uint64_t returned = real_us();
      ASSERT_TRUE(eventually([&] { return real_us() > returned + 7'000'000; }));
    }
    ASSERT_TRUE(daemon.drains()) << daemon.log();
    EXPECT_EQ(daemon.written(), std::vector<std::string>{"x"});
    EXPECT_FALSE(daemon.logged("worker.kill")) << daemon.log();
    EXPECT_TRUE(daemon.logged("task.retry task=" + id)) << daemon.log();
  }
}

// The handler stopped as requested, for a reason unrelated to the task: no attempt is charged.
TEST(Limit, AHandlerThatStopsForItsLeaseIsChargedNothing) {
  Daemon daemon(
      {.workers = 1, .queue_keys = "max_attempts = 1", .daemon_keys = "lease_ttl = \"6s\""});
  (void)daemon.submit("test.sleep", "20000");
  ASSERT_TRUE(eventually([&] { return daemon.busy_workers().size() == 1; })) << daemon.log();
  {
    const Database::Stall stall(Database::shared());
    ASSERT_TRUE(eventually([&] { return daemon.logged("lease.overrun"); })) << daemon.log();
  }
  ASSERT_TRUE(eventually([&] { return daemon.logged("task.interrupted"); })) << daemon.log();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 0U) << daemon.log();
}

}  // namespace
}  // namespace allot::e2e::limit_test
