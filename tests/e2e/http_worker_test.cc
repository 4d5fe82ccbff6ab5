// SPDX-License-Identifier: Apache-2.0
// The plugin http in real workers, against a server of the test.
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "e2e/daemon.h"
#include "support/environment.h"
#include "support/http_client.h"
#include "support/http_target.h"

namespace allot::e2e::http_worker_test {
namespace {

using support::eventually;
using support::HttpTarget;
using Peer = HttpTarget::Peer;

class HttpWorker : public testing::Test {
 protected:
  HttpWorker() {
    std::filesystem::copy_file(ALLOT_HTTP_PLUGIN, plugins_ / "http.so");
    std::filesystem::copy_file(probe_folder() + "/probe.so", plugins_ / "probe.so");
  }
  // A daemon whose type "call" goes to the target.
  [[nodiscard]] DaemonOptions options(const HttpTarget& target,
                                      const std::string& keys = {}) const {
    return {.workers = 1,
            .more = "[plugins.http]\nallow = [\"" + target.origin() +
                    "\"]\n[plugins.http.types.call]\nurl = \"" + target.origin() +
                    "/tasks?x=1\"\n" + keys,
            .plugins = plugins_.path()};
  }

  support::TempDir plugins_;
};

TEST_F(HttpWorker, AnAnswerDecidesAboutATask) {
  HttpTarget target([](Peer& peer) {
    while (const auto request = peer.request()) {
      const bool again = request->field("X-Allot-Attempt") != "1";
      const std::string word = again ? "success" : request->body;
      peer.answer(500, R"({"status":")" + word + R"(","message":"because"})");
    }
  });
  Daemon daemon(options(target, "verdict = \"body\"\n[types.call]\nretry_delay = \"1ms\"\n"));
  const auto good = daemon.submit("call", "success");
  const auto later = daemon.submit("call", "failure");
  const auto bad = daemon.submit("call", "permanent-failure");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 1U) << daemon.log();
  EXPECT_NE(daemon.allot({"task", "show", bad}).out.find("status 500: because"), std::string::npos);
  const auto requests = target.requests();
  ASSERT_EQ(requests.size(), 4U);
  std::multiset<std::string> ids;
  for (const auto& request : requests) {
    ids.insert(request.field("X-Allot-Task"));
    EXPECT_EQ(request.head.substr(0, request.head.find("\r\n")), "POST /tasks?x=1 HTTP/1.1");
    EXPECT_EQ(request.field("X-Allot-Queue"), "default");
    EXPECT_EQ(request.field("X-Allot-Type"), "call");
  }
  EXPECT_EQ(ids, (std::multiset<std::string>{good, later, later, bad}));
  EXPECT_EQ(target.connections(), 1U) << "each worker keeps its connection";
}

TEST_F(HttpWorker, AKilledWorkersRequestIsSentAgain) {
  HttpTarget target([](Peer& peer) {
    while (const auto request = peer.request()) {
      if (request->field("X-Allot-Attempt") == "1") return peer.wait_for_end();
      peer.answer(200, "");
    }
  });
  Daemon daemon(options(target));
  const auto id = daemon.submit("call", "x");
  ASSERT_TRUE(eventually([&] { return target.requests().size() == 1; })) << daemon.log();
  ASSERT_TRUE(eventually([&] { return !daemon.busy_workers().empty(); }));
  support::send_signal(daemon.busy_workers().at(0), SIGKILL);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  const auto requests = target.requests();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].field("X-Allot-Task"), id);
  EXPECT_EQ(requests[1].field("X-Allot-Attempt"), "2");
  EXPECT_EQ(daemon.count("task_dead"), 0U);
}

TEST_F(HttpWorker, AStopClosesTheRequestAndChargesNothing) {
  HttpTarget target([](Peer& peer) {
    if (peer.request()) peer.wait_for_end();
  });
  Daemon daemon(options(target, "stop_grace = \"0s\"\n"));
  const auto id = daemon.submit("call", "x");
  ASSERT_TRUE(eventually([&] { return target.requests().size() == 1; })) << daemon.log();
  EXPECT_EQ(daemon.stop(), (support::ExitStatus{0, 0})) << daemon.log();
  EXPECT_EQ(daemon.task(id)["attempts"].size(), 0U) << daemon.task(id);
  EXPECT_EQ(daemon.count("task"), 1U);
}

TEST_F(HttpWorker, ACancelClosesTheRequest) {
  HttpTarget target([](Peer& peer) {
    if (peer.request()) peer.wait_for_end();
  });
  Daemon daemon(options(target, "stop_grace = \"0s\"\n"));
  const auto id = daemon.submit("call", "x");
  ASSERT_TRUE(eventually([&] { return target.requests().size() == 1; })) << daemon.log();
  const auto done = daemon.allot({"task", "cancel", id, "--reason", "enough"});
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0})) << done.err;
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 1U);
  EXPECT_EQ(target.requests().size(), 1U);
}

// Releases all once the last of them has arrived.
class Meeting {
 public:
  explicit Meeting(std::size_t all) : all_(all) {}
  // False: timeout. Waits without polling: this many pollers would leave the last ones no processor
  // time.
  bool meet() {
    std::unique_lock lock(mutex_);
    if (++there_ >= all_) changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return there_ >= all_; });
  }
  [[nodiscard]] std::size_t there() const {
    const std::lock_guard lock(mutex_);
    return there_;
  }

 private:
  const std::size_t all_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t there_ = 0;
};

TEST_F(HttpWorker, SixtyFourAreAtWorkInOneWorker) {
  constexpr std::size_t kAtOnce = 64;
  Meeting meeting(kAtOnce);
  HttpTarget target([&meeting](Peer& peer) {
    while (peer.request()) {
      if (!meeting.meet()) return;
      peer.answer(204, "");
    }
  });
  auto with = options(target);
  with.pool_keys = "concurrency = 64\n";
  Daemon daemon(with);
  daemon.submit_many("call", std::vector<std::string>(kAtOnce, "x"));
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(meeting.there(), kAtOnce) << "each was sent once\n" << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 0U);
}

// Times of requests and their answers.
class Times {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    times_.push_back(std::chrono::steady_clock::now());
  }
  // Requests per second, from the first answer to the last.
  [[nodiscard]] double rate() const {
    const std::lock_guard lock(mutex_);
    const std::chrono::duration<double> all = times_.back() - times_.front();
    return static_cast<double>(times_.size() - 1) / all.count();
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return times_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::chrono::steady_clock::time_point> times_;
};

HttpTarget::Script answers_after(std::chrono::milliseconds delay, Times& times) {
  return [delay, &times](Peer& peer) {
    while (peer.request()) {
      if (delay.count() > 0) ::poll(nullptr, 0, static_cast<int>(delay.count()));  // its work
      times.add();
      peer.answer(200, "");
    }
  };
}

// The same requests on 64 persistent bare connections.
double bare_rate(std::size_t requests, std::chrono::milliseconds delay) {
  Times times;
  HttpTarget target(answers_after(delay, times));
  const std::string request = "POST /tasks HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx";
  std::atomic<std::size_t> left{requests};
  std::vector<std::thread> clients;
  for (int i = 0; i < 64; ++i) {
    clients.emplace_back([&] {
      auto client = support::HttpClient::to_port(target.port());
      while (left.fetch_sub(1) - 1 < requests) {
        if (!client.ask(request)) return;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(times.count(), requests);
  return times.rate();
}

// ALLOT_TEST_HTTP_TASKS makes it long, for figures on a quiet machine; by default it only shows
// that all requests arrive. The floor is the capacity of target and machine.
TEST_F(HttpWorker, SpeedOfSixtyFourAtATimeAgainstBareConnections) {
  const auto tasks = support::environment_or<std::size_t>("ALLOT_TEST_HTTP_TASKS", 200);
  for (const auto delay : {std::chrono::milliseconds(20), std::chrono::milliseconds(0)}) {
    const double floor = bare_rate(tasks, delay);
    Times times;
    HttpTarget target(answers_after(delay, times));
    auto with = options(target);
    with.pool_keys = "concurrency = 64\n";
    with.queue_keys = "partitions = 4\nblock_size = 1000\n";  // few ends at which threads idle
    with.log_level = "info";
    with.start = false;
    Daemon daemon(with);
    daemon.submit_many("call", std::vector<std::string>(tasks, "x"));
    daemon.start();
    ASSERT_TRUE(daemon.drains()) << daemon.log();
    EXPECT_EQ(times.count(), tasks);
    std::printf(
        "[          ] target of %d ms: %.0f requests/s, 64 bare connections %.0f, ratio %.2f\n",
        static_cast<int>(delay.count()), times.rate(), floor, times.rate() / floor);
  }
}

TEST_F(HttpWorker, AReloadRefusesATargetThatIsNotAllowed) {
  HttpTarget target(HttpTarget::always(200, ""));
  Daemon daemon(options(target));
  wait_ready(daemon, 1);
  const std::string good = support::read_file(daemon.config_file());
  std::ofstream(daemon.config_file())
      << good << "[plugins.http.types.other]\nurl = \"http://example.com/x\"\n";
  daemon.process().signal(SIGHUP);
  ASSERT_TRUE(eventually([&] {
    return daemon.logged("write allow = [\\\"http://example.com:80\\\"] into [plugins.http]");
  })) << daemon.log();
  (void)daemon.submit("call", "");
  EXPECT_TRUE(daemon.drains()) << "the old workers stay";
}

}  // namespace
}  // namespace allot::e2e::http_worker_test
