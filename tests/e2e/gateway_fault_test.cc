// SPDX-License-Identifier: Apache-2.0
// Submissions over HTTP under faults: gateway, workers and database are killed and stopped while
// clients submit. Afterwards the database shows the outcome of each: requests answered with 2xx are
// stored once, those with 4xx or 503 are not, and all others at most once.
//   ALLOT_TEST_SECONDS=120: duration; unset: each fault once
//   ALLOT_TEST_SEED=N: another course of faults
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "e2e/full_disk.h"
#include "e2e/gateway.h"
#include "support/environment.h"
#include "support/http_client.h"

namespace allot::e2e::gateway_fault_test {
namespace {

using support::Database;
using support::environment_or;
using support::eventually;
using support::HttpClient;
using support::status_of;

// A client's knowledge about one task: the statuses of all requests for it; 0: no answer.
struct Replies {
  std::string payload;
  std::vector<int> statuses{};
};

bool is_success(int status) {
  return status == 200 || status == 201;
}
// A client that gets this status knows that nothing happened.
bool is_refusal(int status) {
  return status == 503 || (status >= 400 && status < 500);
}

// One client. Every second task has an Idempotency-Key and is requested until it exists; the others
// are requested once. Some are wrong, so that they are refused.
class Client {
 public:
  Client(std::string socket, int number) : socket_(std::move(socket)), number_(number) {}

  void run(const std::atomic<bool>& over) {
    while (!over) one(over);
  }
  [[nodiscard]] const std::vector<Replies>& replies() const { return replies_; }

 private:
  void one(const std::atomic<bool>& over) {
    const int count = count_++;
    replies_.push_back({std::to_string(number_) + "-" + std::to_string(count)});
    Replies& replies = replies_.back();
    const bool keyed = count % 2 == 0;
    const bool wrong = count % 10 == 5;
    // Tasks with a key wait in a queue that is not served: the end of a task frees its key. The
    // others are processed until their death, which keeps their payload.
    const std::string body = R"({"queue":")" + std::string(keyed ? "parked" : "default") +
                             R"(","type":"test.fail","payload":")" + replies.payload + "\"" +
                             (wrong ? R"(,"bogus":1)" : "") + "}";
    const std::string text =
        submission(body, keyed ? "Idempotency-Key: " + replies.payload + "\r\n" : "");
    do {
      replies.statuses.push_back(asked(text));
    } while (keyed && !is_success(replies.statuses.back()) && !over);
  }

  int asked(const std::string& text) {
    if (!connected()) return 503;  // no listener, so it was not sent
    const auto answer = connection_->ask(text);
    if (!answer || answer->fields.contains("connection")) connection_.reset();
    return status_of(answer);
  }

  bool connected() {
    try {
      if (!connection_) connection_.emplace(HttpClient::to_socket(socket_));
      return true;
    } catch (const std::exception&) {
      ::poll(nullptr, 0, 20);
      return false;
    }
  }

  std::string socket_;
  int number_;
  int count_ = 0;
  std::optional<HttpClient> connection_;
  std::vector<Replies> replies_;
};

class Verdict {
 public:
  explicit Verdict(db::Connection& db) {
    auto rows = db.execute(
        "SELECT CONVERT(payload USING utf8mb4), COUNT(*)"
        "  FROM (SELECT payload FROM task UNION ALL SELECT payload FROM task_running"
        "         UNION ALL SELECT payload FROM task_dead) AS known GROUP BY 1");
    while (const auto row = rows.front().next()) there_[std::string(row->text(0))] = row->u64(1);
  }

  void judge(const Replies& replies) {
    const auto found = there_.find(replies.payload);
    const std::uint64_t count = found == there_.end() ? 0 : found->second;
    const auto any = [&](const auto& is) {
      return std::any_of(replies.statuses.begin(), replies.statuses.end(), is);
    };
    const bool success = any(is_success);
    const bool unknown = any([](int status) { return !is_success(status) && !is_refusal(status); });
    ++tasks_;
    for (const int status : replies.statuses) ++statuses_[status];
    std::string text = replies.payload + " is there " + std::to_string(count) + " times after";
    for (const int status : replies.statuses) text += " " + std::to_string(status);
    if (success) {
      EXPECT_EQ(count, 1U) << text;
    } else {
      EXPECT_LE(count, unknown ? 1U : 0U) << text;
    }
    for (const int status : replies.statuses) {
      const bool known = status == 0 || status == 504 || is_success(status) || is_refusal(status);
      EXPECT_TRUE(known) << text;
    }
  }

  void print() const {
    std::printf("%zu tasks; requests answered:", tasks_);
    for (const auto& [status, count] : statuses_) std::printf("  %d: %zu", status, count);
    std::printf("\n");
  }
  [[nodiscard]] std::size_t answered(int status) const {
    const auto found = statuses_.find(status);
    return found == statuses_.end() ? 0 : found->second;
  }

 private:
  std::map<std::string, std::uint64_t> there_;
  std::map<int, std::size_t> statuses_;
  std::size_t tasks_ = 0;
};

class GatewayFault : public testing::Test {
 protected:
  static DaemonOptions options(Database& server) {
    return {.workers = 2,
            .pool_keys = "queues = [\"default\"]",
            .more = "[queues.parked]\npartitions = 4\n" + gateway_section(),
            .log_level = "info",
            .server = &server,
            .call_timeout = "2s"};
  }

  // 0: none at the moment.
  [[nodiscard]] pid_t gateway() const {
    const pid_t pid = pid_in(daemon_, "gateway.start");
    return pid > 0 && support::alive(pid) ? pid : 0;
  }
  [[nodiscard]] pid_t worker() {
    const auto pids = daemon_.ready_workers();
    if (pids.empty()) return 0;
    const pid_t pid = pids[pids.size() - 1 - random_() % std::min<std::size_t>(2, pids.size())];
    return support::alive(pid) ? pid : 0;
  }

  static void kill9(pid_t pid) {
    if (pid != 0) support::send_signal(pid, SIGKILL);
  }
  void stand_still(pid_t pid, unsigned most_ms) {
    if (pid == 0) return;
    support::send_signal(pid, SIGSTOP);
    pass(most_ms);
    support::send_signal(pid, SIGCONT);
  }
  // The interval between faults is not a condition to wait for.
  void pass(unsigned most_ms) { ::poll(nullptr, 0, static_cast<int>(1 + random_() % most_ms)); }

  using Fault = std::function<void()>;
  [[nodiscard]] std::vector<Fault> faults() {
    return {[this] { kill9(gateway()); },
            [this] { stand_still(gateway(), 800); },
            [this] { kill9(worker()); },
            [this] { stand_still(worker(), 800); },
            [this] {
              server_.kill9();
              pass(300);
              server_.start();
            },
            [this] {
              const Database::Stall stall(server_);
              pass(800);
            },
            [this] {  // longer than the limit of a call
              const Database::Stall stall(server_);
              ::poll(nullptr, 0, 2'300);
            },
            [this] { daemon_.process().signal(SIGHUP); }};
  }

  bool answers() {
    return eventually(
        [&] {
          try {
            return status_of(HttpClient::to_socket(socket_).ask(get("/health/ready"))) == 200;
          } catch (const std::exception&) {
            return false;
          }
        },
        std::chrono::seconds(60));
  }

  Database server_;
  Daemon daemon_{options(server_)};
  std::string socket_ = gateway_socket(daemon_);
  std::mt19937 random_{environment_or("ALLOT_TEST_SEED", 19U)};
};

TEST_F(GatewayFault, AnswersAreTrue) {
  ASSERT_TRUE(answers()) << daemon_.log();
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::thread> threads;
  std::atomic<bool> over = false;
  for (int i = 0; i < 8; ++i) clients.push_back(std::make_unique<Client>(socket_, i));
  for (const auto& each : clients) threads.emplace_back([&] { each->run(over); });

  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::seconds(environment_or("ALLOT_TEST_SECONDS", 0U));
  std::size_t made = 0;
  do {
    auto course = faults();
    std::shuffle(course.begin(), course.end(), random_);
    for (const Fault& fault : course) {
      pass(300);
      fault();
      ++made;
    }
  } while (std::chrono::steady_clock::now() < end);
  EXPECT_TRUE(answers()) << daemon_.log();
  // A slow machine has answered few by then.
  EXPECT_TRUE(eventually([&] { return daemon_.count("task") + daemon_.count("task_dead") > 150; },
                         std::chrono::seconds(60)));
  over = true;
  for (std::thread& each : threads) each.join();

  // Nothing is in progress any more: neither in the gateway nor in the server.
  EXPECT_EQ(daemon_.stop(), (support::ExitStatus{0, 0})) << daemon_.log();
  server_.restart();
  auto db = daemon_.connect();
  Verdict verdict(db);
  for (const auto& each : clients) {
    for (const Replies& replies : each->replies()) verdict.judge(replies);
  }
  std::printf("%zu faults, ", made);
  verdict.print();
  EXPECT_GT(verdict.answered(201), 100U);
  EXPECT_GT(verdict.answered(400), 0U);
}

// A gateway alone, whose server has a disk that can be full.
class FullDiskBelowTheGateway : public testing::Test {
 protected:
  FullDiskBelowTheGateway() { wait_listening(daemon_, *gateway_); }

  // A server that gets an error from a full disk instead of a fatal signal.
  static std::unique_ptr<Database> made_server() {
    FullDisk::ignore_signal();
    auto server = std::make_unique<Database>(FullDisk::server_settings());
    ::signal(SIGXFSZ, SIG_DFL);
    return server;
  }
  static DaemonOptions options(Database& server) {
    DaemonOptions options;
    options.start = false;
    options.more = gateway_section();
    options.server = &server;
    options.call_timeout = "5s";
    return options;
  }

  // A task that needs disk space.
  static std::string task(int number) {
    return R"({"queue":"default","type":"test.ok","payload":")" + std::to_string(number) + "-" +
           std::string(8'000, 'x') + "\"}";
  }
  [[nodiscard]] std::optional<support::Answer> asked(const std::string& body,
                                                     const std::string& type) const {
    return HttpClient::to_socket(gateway_socket(daemon_)).ask(submission(body, {}, type));
  }
  // The status, recorded for the end.
  int submit() {
    const int number = static_cast<int>(statuses_.size());
    const auto answer = asked(task(number), "application/json");
    statuses_.push_back(status_of(answer));
    if (answer && answer->status >= 400) expect_problem(*answer);
    return statuses_.back();
  }
  static void expect_problem(const support::Answer& answer) {
    EXPECT_EQ(answer.fields.at("content-type"), "application/problem+json") << answer.body;
    const auto problem = nlohmann::json::parse(answer.body, nullptr, false);
    ASSERT_TRUE(problem.is_object()) << answer.body;
    EXPECT_EQ(problem.value("status", 0), answer.status) << answer.body;
    if (answer.status == 503) {
      EXPECT_EQ(problem.value("kind", ""), "unavailable");
      EXPECT_EQ(answer.fields.count("retry-after"), 1U);
    }
  }
  // Verifies the answer to a request for the tasks from `first` on, all or none.
  void expect_there(int first, int tasks, int status) {
    std::uint64_t there = 0;
    for (int number = first; number < first + tasks; ++number) {
      there += daemon_.number("SELECT COUNT(*) FROM task WHERE payload LIKE '" +
                              std::to_string(number) + "-%'");
    }
    const auto all = static_cast<std::uint64_t>(tasks);
    EXPECT_TRUE(status == 201 || status == 503 || status == 504) << first << " got " << status;
    EXPECT_TRUE(there == all || there == 0) << first << " is there " << there << " times";
    if (status != 504) {
      EXPECT_EQ(there, status == 201 ? all : 0U) << first;
    }
  }

  std::unique_ptr<Database> server_ = made_server();
  Daemon daemon_{options(*server_)};
  std::unique_ptr<support::Process> gateway_ = start_gateway(daemon_);
  std::vector<int> statuses_;
};

// Also if MariaDB 10.11 dies of it, as it sometimes does: an assertion of InnoDB fails while it
// extends a file. Requests sent at that moment are unknown, and later ones are refused.
TEST_F(FullDiskBelowTheGateway, RefusedTasksDoNotExistAndLaterOnesDo) {
  ASSERT_EQ(submit(), 201);
  int several_told = 0;
  std::string lines_told;
  {
    FullDisk full(*server_, daemon_.connect());
    full.begin();
    int refused = 0;
    EXPECT_TRUE(eventually([&] { return (refused += submit() == 503 ? 1 : 0) == 3; }));
    // All of a transaction, or nothing.
    const auto several = asked("[" + task(7'001) + "," + task(7'002) + "]", "application/json");
    ASSERT_TRUE(several);
    several_told = several->status;
    expect_problem(*several);
    const auto lines = asked(task(7'003) + "\n" + task(7'004) + "\n", "application/x-ndjson");
    ASSERT_TRUE(lines);
    lines_told = lines->body;
  }
  EXPECT_TRUE(eventually([&] {
    server_->start();  // does nothing if it runs
    return submit() == 201;
  })) << "there is room again";
  for (int number = 0; number < static_cast<int>(statuses_.size()); ++number) {
    expect_there(number, 1, statuses_[static_cast<std::size_t>(number)]);
  }
  expect_there(7'001, 2, several_told);
  const auto end = nlohmann::json::parse(lines_told, nullptr, false);
  ASSERT_TRUE(end.is_object()) << lines_told;
  expect_there(7'003, 2, end["problem"]["status"].get<int>());
  EXPECT_EQ(end["next_line"] == 1, end["problem"]["status"] == 503) << lines_told;
}

}  // namespace
}  // namespace allot::e2e::gateway_fault_test
