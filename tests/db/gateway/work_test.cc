// SPDX-License-Identifier: Apache-2.0
// Threads that send statements, and sharing of transactions by submissions, without HTTP requests:
// many threads at once, under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gateway/work/combiner.h"
#include "gateway/work/thread_pool.h"
#include "queue/model/catalog.h"
#include "support/database.h"

namespace allot::gateway::work {
namespace {

constexpr int kClients = 8;

class WorkTest : public testing::Test {
 protected:
  WorkTest() {
    db::Connection db = server_.connect(name_);
    queue::ensure_queue(db, "mail", {4, queue::Placement::kSpread, 1});
  }

  // All clients do the same at the same time.
  static void in_threads(const std::function<void(int client)>& act) {
    std::vector<std::thread> clients;
    for (int i = 0; i < kClients; ++i) clients.emplace_back(act, i);
    for (std::thread& client : clients) client.join();
  }
  std::uint64_t tasks() {
    db::Connection db = server_.connect(name_);
    return support::number_of(db, "SELECT COUNT(*) FROM task");
  }

  support::Database& server_ = support::Database::shared();
  std::string name_ = support::emptied_database();
  std::unique_ptr<ThreadPool> pool_ = std::make_unique<ThreadPool>(server_.options(name_), 4, 1000);
};

TEST_F(WorkTest, EachJobIsDoneOnceAlsoThoseThatWaitAtTheEnd) {
  constexpr int kJobs = 40;
  std::atomic<int> taken = 0;
  std::atomic<int> done = 0;
  in_threads([&](int client) {
    for (int i = 0; i < kJobs; ++i) {
      const bool connects = (i + client) % 2 == 0;
      const auto select = [&done](db::Connection& db) {
        db.execute("SELECT 1");
        ++done;
        throw std::runtime_error("the connection is closed");
      };
      const auto failed = [](const auto& /*error*/, bool begun) { EXPECT_TRUE(begun); };
      taken +=
          connects ? pool_->post({select, failed}) : pool_->post({.alone = [&done] { ++done; }});
    }
  });
  pool_.reset();
  EXPECT_EQ(taken, kClients * kJobs);
  EXPECT_EQ(done, taken);
}

// Shared orders, and some alone because of their unique key; one order is always refused.
TEST_F(WorkTest, EachOrderIsAnsweredOnceWithItsOwnTask) {
  constexpr int kOrders = 25;
  Combiner combiner(*pool_, {});
  std::mutex mutex;
  std::set<std::string> ids;
  std::atomic<int> refused = 0;
  in_threads([&](int client) {
    for (int i = 0; i < kOrders; ++i) {
      std::promise<Outcome> answer;
      queue::Submission task;
      task.named = "mail";
      task.type = i == 0 ? "no type" : "t";
      task.payload = std::to_string(client);
      if (i % 5 == 1) {
        task.options.unique_key = std::to_string(client) + "-" + std::to_string(i);
      }
      Order order{{task},
                  [](const std::string&) {},
                  [&](Outcome made) { answer.set_value(std::move(made)); }};
      ASSERT_TRUE(combiner.submit(std::move(order)));
      const Outcome outcome = answer.get_future().get();
      if (outcome.error != nullptr) {
        ++refused;
        continue;
      }
      const std::lock_guard held(mutex);
      ids.insert(outcome.made.at(0).id.text());
    }
  });
  pool_.reset();  // a combiner outlives its threads
  EXPECT_EQ(refused, kClients);
  EXPECT_EQ(ids.size(), kClients * (kOrders - 1U));
  EXPECT_EQ(tasks(), ids.size());
}

}  // namespace
}  // namespace allot::gateway::work
