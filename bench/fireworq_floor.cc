// SPDX-License-Identifier: Apache-2.0
#include "bench/fireworq_floor.h"

#include <mysql.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bench/target.h"

namespace allot::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kGrabbedAtOnce = 1'000;
constexpr std::uint32_t kFilledAtOnce = 1'000;
constexpr char kGood[] = R"("success")";

// Shape of the table: a number, the columns that decide when a job is due and who has it, and the
// job. One index, for the query that grabs.
constexpr char kTable[] =
    "CREATE TABLE bench_fireworq ("
    "job_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,"
    "next_try BIGINT UNSIGNED NOT NULL,"
    "created_at BIGINT UNSIGNED NOT NULL,"
    "status ENUM('claimed', 'grabbed') NOT NULL DEFAULT 'claimed',"
    "grabber_id BIGINT UNSIGNED NULL,"
    "retry_count INT UNSIGNED NOT NULL,"
    "retry_delay INT UNSIGNED NOT NULL,"
    "fail_count INT UNSIGNED NOT NULL,"
    "timeout INT UNSIGNED NOT NULL,"
    "category VARCHAR(255) NOT NULL,"
    "url TEXT NOT NULL,"
    "payload MEDIUMBLOB NOT NULL,"
    "KEY due (status, next_try)) ENGINE=InnoDB";
constexpr char kInsert[] =
    "INSERT INTO bench_fireworq (next_try, created_at, retry_count, retry_delay, fail_count,"
    " category, url, payload, timeout) VALUES ";
constexpr char kDue[] =
    "SELECT job_id FROM bench_fireworq WHERE status = 'claimed'"
    " AND next_try <= CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED) ORDER BY next_try LIMIT ";

// A connection, with the calls of the client library.
class BareClient {
 public:
  explicit BareClient(const db::ConnectOptions& to) : db_(mysql_init(nullptr)) {
    if (mysql_real_connect(db_.get(), nullptr, to.user.c_str(), to.password.c_str(),
                           to.database.c_str(), 0, to.socket.c_str(),
                           CLIENT_MULTI_STATEMENTS) == nullptr) {
      fail();
    }
  }

  // Sends a packet of statements, and calls `row` for each row of the results.
  template <typename OfRow>
  void run(const std::string& sql, const OfRow& row) {
    if (mysql_real_query(db_.get(), sql.data(), sql.size()) != 0) fail();
    for (int more = 0; more == 0; more = mysql_next_result(db_.get())) {
      MYSQL_RES* result = mysql_store_result(db_.get());
      if (result == nullptr) continue;
      while (MYSQL_ROW one = mysql_fetch_row(result)) row(one, mysql_fetch_lengths(result));
      mysql_free_result(result);
    }
    if (mysql_errno(db_.get()) != 0) fail();
  }
  void run(const std::string& sql) {
    run(sql, [](auto* /*row*/, auto* /*lengths*/) {});
  }

  [[nodiscard]] std::string quoted(const std::string& text) {
    std::string out(text.size() * 2 + 1, '\0');
    out.resize(mysql_real_escape_string(db_.get(), out.data(), text.data(), text.size()));
    return "'" + out + "'";
  }
  // Values of the nine columns.
  [[nodiscard]] std::string values(const BareJob& job) {
    const std::string now = "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS UNSIGNED)";
    return "(" + now + "," + now + ",0,0,0," + quoted(job.category) + "," + quoted(job.url) + "," +
           quoted(job.payload) + ",0)";
  }

 private:
  struct Close {
    void operator()(MYSQL* db) const { mysql_close(db); }
  };
  [[noreturn]] void fail() {
    throw Error(std::string("a bare client of the database: ") + mysql_error(db_.get()));
  }

  std::unique_ptr<MYSQL, Close> db_;
};

struct Grabbed {
  std::string id;
  std::string payload;
};

// Jobs that are grabbed but not started. The grabbing client is always one step ahead of the
// workers.
class Buffer {
 public:
  // False: all workers have ended.
  bool wait_for_room() {
    std::unique_lock held(mutex_);
    low_.wait(held, [this] { return ended_ || jobs_.size() < kGrabbedAtOnce; });
    return !ended_;
  }
  void put(std::vector<Grabbed> jobs) {
    {
      const std::lock_guard held(mutex_);
      std::move(jobs.begin(), jobs.end(), std::back_inserter(jobs_));
    }
    some_.notify_all();
  }
  std::optional<Grabbed> take() {
    std::unique_lock held(mutex_);
    some_.wait(held, [this] { return ended_ || !jobs_.empty(); });
    if (jobs_.empty()) return std::nullopt;
    Grabbed job = std::move(jobs_.front());
    jobs_.pop_front();
    if (jobs_.size() == kGrabbedAtOnce - 1) low_.notify_one();
    return job;
  }
  // Marks the end of the input.
  void end() {
    {
      const std::lock_guard held(mutex_);
      ended_ = true;
    }
    some_.notify_all();
    low_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable some_;
  std::condition_variable low_;
  std::deque<Grabbed> jobs_{};
  bool ended_ = false;
};

std::string list_of(const std::vector<std::string>& ids) {
  std::string list;
  for (const std::string& id : ids) list += (list.empty() ? "" : ",") + id;
  return " IN (" + list + ")";
}

// Three trips: find due jobs, read them completely with a lock, mark them as taken.
std::vector<Grabbed> grab(BareClient& client) {
  std::vector<std::string> ids;
  client.run(kDue + std::to_string(kGrabbedAtOnce),
             [&](MYSQL_ROW row, const unsigned long* /*lengths*/) { ids.emplace_back(row[0]); });
  if (ids.empty()) return {};
  const std::string in = list_of(ids);
  std::vector<Grabbed> jobs;
  client.run(
      "START TRANSACTION; SELECT job_id, payload, category, url, status, created_at, retry_count,"
      " retry_delay, fail_count, timeout FROM bench_fireworq WHERE job_id" +
          in + " FOR UPDATE",
      [&](MYSQL_ROW row, const unsigned long* lengths) {
        jobs.push_back({{row[0], lengths[0]}, {row[1], lengths[1]}});
      });
  client.run(
      "UPDATE bench_fireworq SET status = 'grabbed', grabber_id = CONNECTION_ID() WHERE job_id" +
      in + "; COMMIT");
  return jobs;
}

class BareDrain final : public FireworqFloor::Drain {
 public:
  BareDrain(const db::ConnectOptions& database, std::uint16_t port, const std::string& request,
            std::size_t workers)
      : working_(workers) {
    failures_.resize(workers + 1);
    std::vector<std::unique_ptr<BareClient>> clients;
    for (std::size_t i = 0; i <= workers; ++i) {
      clients.push_back(std::make_unique<BareClient>(database));
    }
    for (std::size_t i = 0; i <= workers; ++i) {
      threads_.emplace_back([this, i, port, request, client = std::move(clients[i])] {
        try {
          i == 0 ? grab_all(*client) : work(*client, port, request);
        } catch (...) {
          failures_[i] = std::current_exception();
          buffer_.end();
        }
        if (i != 0) --working_;
      });
    }
  }
  BareDrain(const BareDrain&) = delete;
  BareDrain& operator=(const BareDrain&) = delete;
  ~BareDrain() override {
    buffer_.end();
    for (std::thread& thread : threads_) thread.join();
  }

  [[nodiscard]] bool running() const override { return working_ > 0; }
  void finish() override {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    for (const auto& failure : failures_) {
      if (failure) std::rethrow_exception(failure);
    }
  }

 private:
  void grab_all(BareClient& client) {
    client.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    while (buffer_.wait_for_room()) {
      auto jobs = grab(client);
      if (jobs.empty()) return buffer_.end();
      buffer_.put(std::move(jobs));
    }
  }

  void work(BareClient& client, std::uint16_t port, const std::string& request) {
    while (const auto job = buffer_.take()) {
      const std::string answer = post(port, request + job->payload);
      if (answer.find(kGood) == std::string::npos) throw Error("the target answers " + answer);
      client.run("DELETE FROM bench_fireworq WHERE job_id = " + job->id);
    }
  }

  Buffer buffer_{};
  std::atomic<std::size_t> working_;
  std::vector<std::exception_ptr> failures_{};
  std::vector<std::thread> threads_{};
};

}  // namespace

FireworqFloor::FireworqFloor(const db::ConnectOptions& database) : database_(database) {
  mysql_library_init(0, nullptr, nullptr);
}
FireworqFloor::~FireworqFloor() = default;

void FireworqFloor::fill(const BareJob& job, std::uint32_t jobs) {
  BareClient client(database_);
  client.run("DROP TABLE IF EXISTS bench_fireworq");
  client.run(kTable);
  const std::string row = client.values(job);
  while (jobs > 0) {
    std::string sql = kInsert + row;
    const std::uint32_t some = std::min(jobs, kFilledAtOnce);
    for (std::uint32_t i = 1; i < some; ++i) sql.append(",").append(row);
    client.run(sql);
    jobs -= some;
  }
}

Figures FireworqFloor::push(const BareJob& job, std::size_t clients, Seconds length) const {
  std::vector<std::unique_ptr<BareClient>> all;
  for (std::size_t i = 0; i < clients; ++i) all.push_back(std::make_unique<BareClient>(database_));
  const std::string sql = kInsert + all.front()->values(job);
  std::vector<std::vector<std::uint32_t>> took(clients);
  std::vector<std::exception_ptr> failures(clients);
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(length);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients; ++i) {
      threads.emplace_back([&, i] {
        try {
          for (auto now = Clock::now(); now < end;) {
            all[i]->run(sql);
            const auto then = Clock::now();
            took[i].push_back(static_cast<std::uint32_t>(
                std::chrono::duration_cast<std::chrono::microseconds>(then - now).count()));
            now = then;
          }
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  const Seconds elapsed = Clock::now() - begin;
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  std::vector<std::uint32_t> each;
  for (const auto& some : took) each.insert(each.end(), some.begin(), some.end());
  return figures_of(each, elapsed);
}

std::unique_ptr<FireworqFloor::Drain> FireworqFloor::start(std::uint16_t port,
                                                           const std::string& request,
                                                           std::size_t workers) const {
  return std::make_unique<BareDrain>(database_, port, request, workers);
}

}  // namespace allot::bench
