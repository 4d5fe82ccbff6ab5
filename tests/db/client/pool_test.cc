// SPDX-License-Identifier: Apache-2.0
// Threads of an application that share one client, and so its connections.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <set>
#include <vector>

#include "db/client/fixture.h"
#include "support/eventually.h"

namespace allot::client {
namespace {

constexpr int kThreads = 8;  // more than the number of kept idle connections

class PoolTest : public ClientTest {
 protected:
  // Calls `act` with the number of the thread in each thread; returns the ids.
  static std::set<std::string> in_threads(
      const std::function<std::set<std::string>(int thread)>& act) {
    std::vector<std::future<std::set<std::string>>> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.push_back(std::async(std::launch::async, act, i));
    }
    std::set<std::string> all;
    for (auto& thread : threads) all.merge(thread.get());
    return all;
  }
};

TEST_F(PoolTest, ManyThreadsShareAClient) {
  const auto all = in_threads([this](int) {
    std::set<std::string> ids;
    for (int i = 0; i < 25; ++i) {
      const std::string id = client_.submit(task()).id;
      if (client_.get(id)) ids.insert(id);
    }
    return ids;
  });
  EXPECT_EQ(all.size(), 200U);
  EXPECT_EQ(tasks(), 200U);
}

// Each call once, and one with a unique key that all of them use.
TEST_F(PoolTest, WhateverTheyCall) {
  const auto all = in_threads([this](int) {
    std::set<std::string> ids;
    Application app(name_);
    for (int i = 0; i < 10; ++i) {
      for (const Submitted& one : client_.submit_many({task("a"), task("b")})) ids.insert(one.id);
      app.run("BEGIN");
      ids.insert(client_.submit_in(app.handle(), task("lent")).id);
      app.run("COMMIT");
      ids.insert(client_.submit(unique("the same")).id);
      client_.cancel(client_.submit(task("cancelled")).id);
      client_.wake();
    }
    return ids;
  });
  EXPECT_EQ(all.size(), kThreads * 30U + 1);
  EXPECT_EQ(tasks(), all.size());
  EXPECT_EQ(support::number_of(observer_, "SELECT COUNT(*) FROM task_dead"), kThreads * 10U);
}

// Like a server that closes idle connections: several threads notice it at the same time.
TEST_F(PoolTest, ConnectionsThatWereClosedAreNotNoticedByAny) {
  for (int round = 1; round <= 5; ++round) {
    ASSERT_NO_FATAL_FAILURE(end_connections());
    const auto made = in_threads([this](int) {
      return std::set<std::string>{client_.submit(task()).id, client_.submit(task()).id};
    });
    EXPECT_EQ(made.size(), 2U * kThreads);
    EXPECT_EQ(tasks(), static_cast<std::uint64_t>(round) * 2U * kThreads);
    EXPECT_TRUE(support::eventually([&] { return connections() <= 1 + 4; }))
        << "this number is kept";
  }
}

}  // namespace
}  // namespace allot::client
