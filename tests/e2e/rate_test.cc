// SPDX-License-Identifier: Apache-2.0
// Rates over three daemons of one database (A11): by what handlers write when they start, no queue
// exceeds its rate, whoever is killed, stopped, or told another time. Load makes starts later, and
// cannot break that bound. How near a queue comes to its rate is judged with room, unless
//   ALLOT_TEST_RATE_SECONDS=10 (or 200, for the slow rate)
// says how long to measure: then within the 5 % of docs/promises.md.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "e2e/daemon.h"
#include "support/stepped_clock.h"

namespace allot::e2e::rate_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using support::Database;
using support::eventually;

unsigned measured_seconds(unsigned usual) {
  const char* text = std::getenv("ALLOT_TEST_RATE_SECONDS");
  return text != nullptr ? static_cast<unsigned>(std::atoi(text)) : usual;
}
bool judged_exactly() {
  return std::getenv("ALLOT_TEST_RATE_SECONDS") != nullptr;
}

// Until so much time has passed. What happens in it is what the test is about.
void let_pass(milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  EXPECT_TRUE(eventually([&] { return std::chrono::steady_clock::now() >= until; }));
}

struct Wanted {
  std::string per_second;
  std::string handler_ms;
  unsigned seconds;
  unsigned tasks;
};

class Cluster {
 public:
  // Two workers each, that run so many tasks at a time.
  explicit Cluster(Database* server = nullptr, unsigned concurrency = 1) {
    for (int i = 0; i < 3; ++i) {
      DaemonOptions one{.workers = 2,
                        .queue_keys = "partitions = 8\nblock_seconds = \"2s\"",
                        .daemon_keys = "instance = \"d" + std::to_string(i) + "\"",
                        .pool_keys = "concurrency = " + std::to_string(concurrency),
                        .log_level = "info",
                        .migrate = i == 0,
                        .start = false,
                        .database = i == 0 ? "" : daemons_[0]->database()};
      one.server = server;
      daemons_.push_back(std::make_unique<Daemon>(one));
    }
  }
  void start() {
    for (auto& daemon : daemons_) daemon->start();
    for (auto& daemon : daemons_) wait_ready(*daemon, 1);
  }
  void stop() {
    for (auto& daemon : daemons_) EXPECT_EQ(daemon->stop()->code, 0) << daemon->log();
  }
  [[nodiscard]] Daemon& daemon(std::size_t i) { return *daemons_[i]; }
  void fill(const Wanted& wanted) {
    const auto made =
        daemon(0).allot({"queue", "rate", "default", "--per-second", wanted.per_second});
    ASSERT_EQ(made.status.code, 0) << made.err;
    daemon(0).submit_many("test.stamp_beside",
                          std::vector<std::string>(wanted.tasks, wanted.handler_ms));
  }
  // When handlers began, in seconds, sorted.
  [[nodiscard]] std::vector<double> starts() const {
    std::vector<double> all;
    for (const auto& daemon : daemons_) {
      for (const std::string& line : daemon->written()) all.push_back(std::stod(line) / 1e6);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  // Until the first start is so long ago.
  [[nodiscard]] bool runs_for(unsigned wanted_seconds) const {
    std::vector<double> first;
    if (!eventually([&] { return !(first = starts()).empty(); }, seconds(30))) return false;
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
          .count();
    };
    return eventually([&] { return now() - first.front() >= wanted_seconds; },
                      seconds(wanted_seconds + 30));
  }

 private:
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

// In any 10 s at most 1.05 * 10 * rate + burst, which is half a second of the rate beside the
// burst; in any shorter time by the same slack. `more`: what steps of a clock may add.
void expect_never_above(const std::vector<double>& starts, double rate, double more = 0) {
  for (const double window : {1.0, 2.0, 5.0, 10.0}) {
    std::size_t most = 0;
    for (std::size_t from = 0, to = 0; from < starts.size(); ++from) {
      while (to < starts.size() && starts[to] < starts[from] + window) ++to;
      most = std::max(most, to - from);
    }
    const double bound = rate * window + rate / 2 + 1 + more;
    std::printf("%zu starts; at most %zu in %.0f s (bound %.1f)\n", starts.size(), most, window,
                bound);
    EXPECT_LE(static_cast<double>(most), bound) << window << " s";
  }
}

void expect_near(const std::vector<double>& starts, double rate, unsigned measured) {
  const auto end = std::lower_bound(starts.begin(), starts.end(), starts.front() + measured);
  const double had = static_cast<double>(end - starts.begin()) / measured;
  std::printf("%.3f/s of %.3f/s in %u s\n", had, rate, measured);
  EXPECT_GE(had, judged_exactly() ? rate * 0.95 : rate * 0.3);
}

void expect_held_and_used(const Wanted& wanted) {
  const unsigned measured = measured_seconds(wanted.seconds);
  const double rate = std::stod(wanted.per_second);
  Cluster cluster(nullptr, wanted.handler_ms == "100" && rate > 100 ? 16 : 1);
  Wanted filled = wanted;
  filled.tasks = static_cast<unsigned>(rate * (measured + 3) * 1.2) + 10;
  cluster.fill(filled);
  cluster.start();
  ASSERT_TRUE(cluster.runs_for(measured));
  cluster.stop();
  const std::vector<double> starts = cluster.starts();
  expect_never_above(starts, rate);
  expect_near(starts, rate, measured);
}

TEST(Rate, Of500IsHeldAndUsed) {
  expect_held_and_used({"500", "1", 3, 0});
}

TEST(Rate, Of500IsHeldAndUsedBySlowHandlers) {
  expect_held_and_used({"500", "100", 3, 0});
}

TEST(Rate, Of5IsHeldAndUsed) {
  expect_held_and_used({"5", "1", 3, 0});
}

TEST(Rate, Of5IsHeldAndUsedBySlowHandlers) {
  expect_held_and_used({"5", "100", 3, 0});
}

TEST(Rate, OfOneInTwoSecondsIsHeldAndUsed) {
  expect_held_and_used({"0.5", "1", 5, 0});
}

// Of a killed worker it is forgotten what it was granted, and of a stopped one it has lapsed.
TEST(Rate, IsHeldWhileWorkersAreKilledAndStopped) {
  const unsigned rounds = measured_seconds(6);
  Cluster cluster;
  cluster.fill({"200", "1", 0, 200 * (rounds + 12)});
  cluster.start();
  std::vector<pid_t> stopped;
  for (unsigned i = 0; i < rounds; ++i) {
    ASSERT_TRUE(cluster.runs_for(i + 1));
    const auto workers = cluster.daemon(i % 3).ready_workers();
    if (workers.empty()) continue;
    const bool kills = i % 2 == 0;
    // A pid of before is another process at worst, which this test did not start: ask first.
    const auto present = cluster.daemon(i % 3).workers();
    if (present.empty()) continue;
    ::kill(present.front(), kills ? SIGKILL : SIGSTOP);
    if (!kills) stopped.push_back(present.front());
    if (!kills && stopped.size() == 1) {
      // The first one goes on in the midst of it, with what it had in hand.
      let_pass(milliseconds(700));
      ::kill(stopped.front(), SIGCONT);
    }
  }
  for (const pid_t pid : stopped) ::kill(pid, SIGCONT);
  ASSERT_TRUE(cluster.runs_for(rounds + 1));
  for (std::size_t i = 0; i < 3; ++i) (void)cluster.daemon(i).stop();
  const std::vector<double> starts = cluster.starts();
  ASSERT_FALSE(starts.empty());
  expect_never_above(starts, 200);
}

// S44: a clock that is set forward fills the buckets once, one that is set back holds nobody up.
TEST(Rate, IsHeldWhileTheClockOfTheDatabaseIsStepped) {
  const support::SteppedClock clock;
  Database server({}, support::Network::kNone, clock.environment());
  Cluster cluster(&server);
  cluster.fill({"50", "1", 0, 2'000});
  cluster.start();
  const auto goes_on = [&] {
    const std::size_t before = cluster.starts().size();
    return eventually([&] { return cluster.starts().size() >= before + 40; }, seconds(30));
  };
  ASSERT_TRUE(goes_on());
  int steps = 0;
  for (const int hours : {1, 0, -1, 0}) {
    clock.step_to(std::chrono::hours(hours));
    ++steps;
    EXPECT_TRUE(goes_on()) << hours << cluster.daemon(0).log();
  }
  for (std::size_t i = 0; i < 3; ++i) (void)cluster.daemon(i).stop();
  // Each step lets a full bucket start once more, and that is 200 ms of the rate.
  expect_never_above(cluster.starts(), 50, steps * 10);
}

// Who waits for a rate asks the database now and then, and not all the time.
TEST(Rate, AWaitCostsAFewStatements) {
  Database server;
  DaemonOptions options{.workers = 2, .log_level = "info"};
  options.server = &server;
  Daemon daemon(options);
  wait_ready(daemon, 2);
  ASSERT_EQ(daemon.allot({"queue", "rate", "default", "--per-second", "0.1"}).status.code, 0);
  daemon.submit_many("test.stamp", std::vector<std::string>(5, "1"));
  ASSERT_TRUE(eventually([&] { return !daemon.written().empty(); })) << daemon.log();
  db::Connection look = daemon.connect();
  const auto asked = [&] {
    return support::server_counter(look, "Com_select") +
           support::server_counter(look, "Com_update");
  };
  // What a start leaves behind is over by then.
  let_pass(seconds(2));
  const std::uint64_t before = asked();
  let_pass(seconds(3));
  const std::uint64_t cost = asked() - before;
  std::printf("%llu statements in 3 s\n", static_cast<unsigned long long>(cost));
  EXPECT_LE(cost, 60U) << "a scout each 0.9 s, duties and watches";
  const auto why = daemon.allot({"tasks", "--json"});
  const auto ids = nlohmann::json::parse(why.out);
  ASSERT_FALSE(ids.empty());
  const auto said = daemon.allot({"why", ids.at(0).at("task").get<std::string>()});
  EXPECT_NE(said.out.find("waits for the rate of its queue"), std::string::npos) << said.out;
  EXPECT_EQ(daemon.stop()->code, 0);
}

}  // namespace
}  // namespace allot::e2e::rate_test
