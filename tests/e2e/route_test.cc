// SPDX-License-Identifier: Apache-2.0
// A heavy type moves to its own queue while everything runs, and submissions of handlers, hooks and
// schedules follow (A10).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "e2e/door.h"
#include "queue/model/catalog.h"

namespace allot::e2e::route_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using support::eventually;

std::string in_queue(const std::string& queue, const std::string& more) {
  return "SELECT COUNT(*) FROM task JOIN queue USING (queue_id) WHERE name = '" + queue + "'" +
         more;
}

class RouteDoor : public DoorFixture {};

// The queue `aside` is not served, so its tasks stay there. Tasks of the other queue leave their
// payload in the output.
TEST_F(RouteDoor, HandlerSubmissionFollowsARouteWithinASecond) {
  begin();
  auto db = daemon_->connect();
  queue::ensure_queue(db, "aside", {2});
  ASSERT_EQ(pass({.payload = "before"}), "");
  expect_kept(Order().type, "before");
  const auto done = daemon_->allot({"route", "set", Order().type, "aside", "--from", "default"});
  ASSERT_EQ(done.status.code, 0) << done.err;
  const auto set = steady_clock::now();
  milliseconds strayed{0};  // when the last one that did not follow was sent
  EXPECT_TRUE(eventually([&] {
    const auto sent = std::chrono::duration_cast<milliseconds>(steady_clock::now() - set);
    EXPECT_EQ(pass({.payload = "after"}), "");
    if (daemon_->number(in_queue("aside", "")) > 0) return true;
    strayed = sent;
    return false;
  }));
  ASSERT_EQ(pass({.payload = "last"}), "");
  EXPECT_EQ(daemon_->number(in_queue("aside", "")), 2U);
  EXPECT_LT(strayed, milliseconds(1500)) << "one second, and what a busy machine adds";
}

// Submissions of hooks, notices and schedules follow the route.
TEST(Route, AHookAndAScheduleFollow) {
  Daemon daemon({.workers = 1, .queue_keys = "on_dead = \"default/alert\"\nmax_attempts = 1\n"});
  auto db = daemon.connect();
  queue::ensure_queue(db, "aside", {2});
  for (const char* type : {"alert", "tick"}) {
    const auto set = daemon.allot({"route", "set", type, "aside", "--from", "default"});
    ASSERT_EQ(set.status.code, 0) << set.err;
  }
  static_cast<void>(daemon.submit("test.fail", ""));
  ASSERT_TRUE(eventually([&] {
    return daemon.number(in_queue("aside", " AND type = 'alert'")) == 1;
  })) << daemon.log();
  const auto add = daemon.allot({"schedule", "add", "s", "* * * * * *", "default", "tick"});
  ASSERT_EQ(add.status.code, 0) << add.err;
  ASSERT_TRUE(eventually([&] {
    return daemon.number(in_queue("aside", " AND type = 'tick'")) >= 2;
  })) << daemon.log();
  const auto removed = daemon.allot({"route", "remove", "tick", "--from", "default"});
  ASSERT_EQ(removed.status.code, 0) << removed.err;
  const auto now = daemon.allot({"schedule", "run-now", "s"});
  ASSERT_EQ(now.status.code, 0) << now.err;
  EXPECT_EQ(now.out.substr(0, 2), daemon.submit("tick", "").substr(0, 2)) << "in one queue";
}

// Submits light tasks one after the other, like an application, until it is stopped.
class Lights {
 public:
  explicit Lights(const Daemon& daemon) : daemon_(daemon) {}
  void put(const std::string& type, int tasks) {
    for (int i = 0; i < tasks; ++i) {
      static_cast<void>(daemon_.submit(type, ""));
      ++made_;
    }
  }
  // From the history: from the submission to the start of the handler. This percentage waited no
  // longer.
  [[nodiscard]] double wait_ms(const std::string& type, std::uint64_t percent) const {
    const std::uint64_t count =
        daemon_.number("SELECT COUNT(*) FROM task_history WHERE type = '" + type + "'");
    if (count == 0) return -1;
    const std::uint64_t skip = count - 1 - (count - 1) * percent / 100;
    return static_cast<double>(daemon_.number(
               "SELECT CAST(GREATEST(0, TIMESTAMPDIFF(MICROSECOND, '2025-01-01', ended_at) -"
               " runtime_us - (first_key >> 12)) AS UNSIGNED) AS wait FROM task_history"
               " WHERE type = '" +
               type + "' ORDER BY wait DESC LIMIT 1 OFFSET " + std::to_string(skip))) /
           1000;
  }
  [[nodiscard]] std::uint64_t made() const { return made_; }
  void forget() {
    daemon_.connect().execute("DELETE FROM task_history WHERE type = 'test.ok'");
    made_ = 0;
  }

 private:
  const Daemon& daemon_;
  std::uint64_t made_ = 0;
};

// test.nap of 50 ms is the heavy type; tasks of test.ok wait behind them. The waits are printed;
// the test checks counts, and that the light ones do not wait for the heavy ones any more.
TEST(Route, AHeavyTypeMovesToItsOwnQueueWhileEverythingRuns) {
  Daemon daemon({.workers = 2,
                 .queue_keys = "partitions = 4\nblock_size = 20\nhistory = \"1h\"\n",
                 .pool_keys = "queues = [\"default\"]\n",
                 .more = "[queues.heavy]\npartitions = 4\nhistory = \"1h\"\n"
                         "[pools.heavy]\nsize = 1\nqueues = [\"heavy\"]\n",
                 .log_level = "info"});
  constexpr int kHeavy = 200;
  constexpr int kFew = 30;
  const auto put_heavy = [&](int tasks) {
    daemon.submit_many("test.nap", std::vector<std::string>(static_cast<std::size_t>(tasks), "50"));
  };
  Lights lights(daemon);
  const auto settle = [&](const std::string& type) {
    ASSERT_TRUE(eventually(
        [&] {
          return daemon.number("SELECT COUNT(*) FROM task_history WHERE type = '" + type + "'") ==
                 lights.made();
        },
        seconds(60)))
        << daemon.log();
  };
  put_heavy(kHeavy);
  lights.put("test.ok", kFew);
  settle("test.ok");
  const double before = lights.wait_ms("test.ok", 50);
  lights.forget();

  put_heavy(kHeavy);
  std::thread submits([&] { lights.put("test.ok", kFew); });
  const auto moved =
      daemon.allot({"route", "set", "test.nap", "heavy", "--from", "default", "--move", "--json"});
  submits.join();
  EXPECT_LE(moved.status.code, 1) << moved.err;
  settle("test.ok");
  const double during = lights.wait_ms("test.ok", 50);
  lights.forget();

  const auto heavy_in = [&](const std::string& queue) {
    return daemon.number(in_queue(queue, " AND type = 'test.nap'"));
  };
  ASSERT_TRUE(eventually([&] { return heavy_in("default") == 0; }, seconds(60)));
  put_heavy(kHeavy);
  EXPECT_EQ(heavy_in("default"), 0U);
  EXPECT_GT(heavy_in("heavy"), 0U);
  lights.put("test.ok", kFew);
  settle("test.ok");
  const double after = lights.wait_ms("test.ok", 50);
  std::printf("median wait of light tasks: before %.1f ms, during %.1f ms, after %.1f ms\n%s\n",
              before, during, after, moved.out.c_str());
  EXPECT_LT(after, before / 2);
  EXPECT_TRUE(eventually([&] { return heavy_in("heavy") == 0; }, seconds(120)));
  EXPECT_EQ(daemon.number("SELECT COUNT(*) FROM task_history WHERE type = 'test.nap'"), 3U * kHeavy)
      << "each ran, and once";
  EXPECT_EQ(daemon.count("task_dead"), 0U);
}

}  // namespace
}  // namespace allot::e2e::route_test
