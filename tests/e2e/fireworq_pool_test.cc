// SPDX-License-Identifier: Apache-2.0
// A pool that serves the queues of Fireworq's programs, with the plugin http: jobs reach their
// target, and never more of them at a time than the queue permits.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "e2e/daemon.h"
#include "queue/model/catalog.h"
#include "support/bound_socket.h"
#include "support/http_target.h"

namespace allot::e2e::fireworq_pool_test {
namespace {

using support::eventually;
using support::HttpTarget;
using Clock = std::chrono::steady_clock;

// A target that counts exactly the open requests: one thread checks all connections before it
// accepts another one, so that a request of a dead sender does not count.
class CountingTarget {
 public:
  explicit CountingTarget(std::chrono::milliseconds takes) : takes_(takes) {
    support::BoundSocket made = support::listening_socket(512, SOCK_NONBLOCK);
    listen_ = std::move(made.fd);
    port_ = made.port;
    thread_ = std::thread([this] { run(); });
  }
  CountingTarget(const CountingTarget&) = delete;
  CountingTarget& operator=(const CountingTarget&) = delete;
  ~CountingTarget() {
    stop_ = true;
    thread_.join();
  }

  [[nodiscard]] std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::size_t answered() const { return answered_; }
  void forget() { most_ = 0; }

 private:
  struct Open {
    UniqueFd fd;
    Clock::time_point until;
    std::size_t read = 0;
  };

  void run() {
    while (!stop_) {
      pollfd event{listen_.get(), POLLIN, 0};
      ::poll(&event, 1, 2);
      drop_ended();
      answer_due();
      UniqueFd fd(::accept4(listen_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!fd.valid()) continue;
      drop_ended();
      open_.push_back({std::move(fd), Clock::now() + takes_});
      most_ = std::max<std::size_t>(most_, open_.size());
    }
  }
  void drop_ended() {
    std::erase_if(open_, [](Open& one) {
      char bytes[4096];
      for (;;) {
        const ssize_t got = ::recv(one.fd.get(), bytes, sizeof bytes, 0);
        if (got <= 0) return got == 0 || (errno != EAGAIN && errno != EINTR);
        one.read += static_cast<std::size_t>(got);
      }
    });
  }
  void answer_due() {
    const auto now = Clock::now();
    std::erase_if(open_, [&](const Open& one) {
      if (now < one.until || one.read == 0) return false;
      static const std::string kAnswer =
          "HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: "
          "close\r\n\r\n{\"status\":\"success\"}";
      ++answered_;
      return ::send(one.fd.get(), kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) != 0;
    });
  }

  const std::chrono::milliseconds takes_;
  UniqueFd listen_{};
  int port_ = 0;
  std::vector<Open> open_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> most_ = 0;
  std::atomic<std::size_t> answered_ = 0;
  std::thread thread_;
};

class FireworqPool : public testing::Test {
 protected:
  FireworqPool() { std::filesystem::copy_file(ALLOT_HTTP_PLUGIN, plugins_ / "http.so"); }

  [[nodiscard]] DaemonOptions options(const std::string& origin, unsigned workers) const {
    return {.workers = workers,
            .pool_keys = "fireworq = true\nconcurrency = 8",
            .more = "[plugins.http]\nallow = [\"" + origin +
                    "\"]\n[plugins.http.fireworq]\nenabled = true\n",
            .plugins = plugins_.path()};
  }
  // Creates it like the gateway.
  static void make_queue(const Daemon& daemon, const std::string& name, std::uint32_t partitions,
                         std::uint32_t max_workers) {
    auto db = daemon.connect();
    const auto queue = queue::ensure_queue(db, name, {partitions});
    db.execute("INSERT INTO fireworq_queue (queue_id, name, polling_interval) VALUES (" +
               std::to_string(queue.queue_id) + ", '" + name + "', 200); UPDATE queue SET cap = " +
               std::to_string(max_workers) + " WHERE queue_id = " + std::to_string(queue.queue_id));
  }
  static void push(const Daemon& daemon, const std::string& queue, const std::string& url,
                   std::size_t jobs, std::uint32_t max_retries = 0) {
    std::vector<nlohmann::json> tasks;
    for (std::size_t i = 0; i < jobs; ++i) {
      const nlohmann::json envelope = {
          {"url", url}, {"category", "c"}, {"max_retries", max_retries}};
      tasks.push_back({{"queue", queue},
                       {"type", "fireworq.job"},
                       {"max_attempts", max_retries + 1},
                       {"max_losses", 3},
                       {"payload", envelope.dump() + "\n{\"number\":" + std::to_string(i) + "}"}});
    }
    daemon.submit_all(tasks);
  }

  support::TempDir plugins_;
};

TEST_F(FireworqPool, JobsOfAQueueThatIsMadeLaterComeToTheirTargets) {
  HttpTarget target([](HttpTarget::Peer& peer) {
    while (const auto request = peer.request()) {
      const bool good = request->head.starts_with("POST /good ");
      peer.answer(200,
                  good ? R"({"status":"success"})" : R"({"status":"failure","message":"because"})");
    }
  });
  Daemon daemon(options(target.origin(), 1));
  wait_ready(daemon, 1);
  make_queue(daemon, "jobs", 1, 20);
  push(daemon, "jobs", target.origin() + "/good", 3);
  push(daemon, "jobs", target.origin() + "/bad", 1, 2);
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(target.requests().size(), 6U) << "the bad one three times";
  EXPECT_EQ(daemon.value("SELECT CONCAT(attempt, ' ', error, ' ', headers) FROM task_dead"),
            "3 failure 200: because max_attempts=3\nmax_losses=3\nverdicts=3");
}

// A pool that names the queue in its section observes it, too.
TEST_F(FireworqPool, AQueueThatASectionNamesKeepsItsCap) {
  CountingTarget target(std::chrono::milliseconds(30));
  DaemonOptions ordinary = options(target.origin(), 2);
  ordinary.pool_keys = "concurrency = 8";
  ordinary.start = false;
  Daemon daemon(ordinary);
  make_queue(daemon, "default", 1, 2);
  push(daemon, "default", target.origin() + "/x", 20);
  daemon.start();
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(target.answered(), 20U);
  EXPECT_EQ(target.most(), 2U);
}

// Two partitions share five, and a change of their number meets existing leases.
TEST_F(FireworqPool, NeverMoreAtATimeThanMaxWorkersWhileWorkersAreKilled) {
  CountingTarget target(std::chrono::milliseconds(30));
  Daemon daemon(options(target.origin(), 3));
  wait_ready(daemon, 3);
  make_queue(daemon, "jobs", 2, 5);
  for (int kills = 0; kills < 8; ++kills) {
    std::vector<pid_t> busy;
    ASSERT_TRUE(eventually([&] {
      // The observer may be slower than the workers.
      if (daemon.count("task") < 200) push(daemon, "jobs", target.origin() + "/x", 200);
      return !(busy = daemon.busy_workers()).empty();
    })) << daemon.log();
    support::send_signal(busy.at(static_cast<std::size_t>(kills) % busy.size()), SIGKILL);
    const auto answered = target.answered();
    ASSERT_TRUE(eventually([&] { return target.answered() > answered + 5; })) << daemon.log();
  }
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_EQ(target.most(), 5U) << daemon.log();
  EXPECT_EQ(daemon.count("task_dead"), 0U);
  target.forget();
  push(daemon, "jobs", target.origin() + "/x", 200);
  ASSERT_TRUE(eventually([&] { return target.most() > 2; }));
  auto db = daemon.connect();
  db.execute("UPDATE queue SET partitions = 1, cap = 4 WHERE name = 'jobs'");
  ASSERT_TRUE(daemon.drains()) << daemon.log();
  EXPECT_LE(target.most(), 5U) << "not more than the larger of the two";
}

}  // namespace
}  // namespace allot::e2e::fireworq_pool_test
