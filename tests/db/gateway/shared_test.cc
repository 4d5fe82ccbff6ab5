// SPDX-License-Identifier: Apache-2.0
// Objects shared by the threads of a gateway besides its work: used by many threads at once, under
// ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "db/error.h"
#include "gateway/api/shared_reads.h"
#include "gateway/fireworq/figures.h"
#include "gateway/fireworq/node.h"
#include "metrics/snapshot.h"
#include "support/database.h"

namespace allot::gateway {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = 200;

// Each thread does the same number of calls, at the same time.
void in_threads(const std::function<void()>& act) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) act();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedTest, ASnapshotIsTakenOnceForAll) {
  metrics::Snapshots snapshots(std::numeric_limits<Nanos>::max() / 2);
  std::atomic<int> taken = 0;
  in_threads([&] {
    if (snapshots.get(2)) return;
    ++taken;
    snapshots.put({.at_ns = 1});
  });
  EXPECT_GE(taken, 1);
  EXPECT_LE(taken, kThreads) << "each of those that came before the first one";
  EXPECT_EQ(snapshots.get(2)->at_ns, 1);
}

// During a renewal other threads get the last snapshot.
TEST(SharedTest, OneThreadRenewsASnapshot) {
  metrics::Snapshots snapshots(0);
  snapshots.put({.at_ns = 1});
  std::atomic<int> renewing = 0;
  in_threads([&] {
    if (snapshots.get(2)) return;
    EXPECT_EQ(++renewing, 1);
    --renewing;
    snapshots.put({.at_ns = 1});
  });
}

TEST(SharedTest, ManyCallersGetOneRead) {
  api::SharedReads reads(support::Database::shared().options(support::emptied_database()));
  std::atomic<int> read = 0;
  const auto get = [&](const std::string& key) {
    return *reads.get(key, std::numeric_limits<Nanos>::max() / 2, [&](db::Connection& db) {
      ++read;
      return support::number_of(db, "SELECT 7");
    });
  };
  in_threads([&] {
    EXPECT_EQ(get("a"), 7U);
    EXPECT_EQ(get("b"), 7U);
  });
  EXPECT_EQ(read, 2);
  in_threads([&] {
    EXPECT_EQ(get("a"), 7U);
    reads.forget();
  });
  EXPECT_GT(read, 3);
}

// All that wait get the error, and the next one reads again.
TEST(SharedTest, AFailedReadIsNotKept) {
  api::SharedReads reads(support::Database::shared().options(support::emptied_database()));
  std::atomic<int> failed = 0;
  in_threads([&] {
    try {
      static_cast<void>(reads.get("a", 0, [](db::Connection& db) {
        return support::number_of(db, "SELECT 7 FROM nothing");
      }));
    } catch (const db::DbError&) {
      ++failed;
    }
  });
  EXPECT_EQ(failed, kThreads * kRounds);
}

TEST(SharedTest, EachPushIsCounted) {
  fireworq::Figures figures("");
  queue::FireworqQueue queue;
  queue.name = queue.info.name = "q";
  in_threads([&] {
    figures.pushed(queue.name);
    figures.turn();
    static_cast<void>(figures.of({}, queue));
  });
  EXPECT_EQ(figures.of({}, queue).pushes, std::uint64_t{kThreads} * kRounds);
}

// One thread keeps its term, while others ask for it.
TEST(SharedTest, TheActiveNodeIsAskedWhileItRenewsItsTerm) {
  const std::string name = support::emptied_database();
  db::Connection db = support::Database::shared().connect(name);
  fireworq::Node node;
  std::thread keeper([&] {
    for (int round = 0; round < 20; ++round) node.round(db);
  });
  in_threads([&] { static_cast<void>(node.is_active()); });
  keeper.join();
  EXPECT_TRUE(node.is_active());
  node.leave(db);
  EXPECT_FALSE(node.is_active());
}

}  // namespace
}  // namespace allot::gateway
