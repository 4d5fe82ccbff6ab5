// SPDX-License-Identifier: Apache-2.0
// Order in which a worker of a pool with weights, or of a strict one, takes leases: without board,
// database and processes.
#include "worker/lease/weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "worker/lease/hints.h"

namespace allot::worker {
namespace {

// A pool that serves queues 1, 2, ... named a, b, ...
struct Served {
  explicit Served(std::uint32_t count) {
    for (std::uint32_t id = 1; id <= count; ++id) {
      ServedQueue queue;
      queue.info.queue_id = id;
      queue.info.name = std::string(1, static_cast<char>('a' + id - 1));
      queues.push_back(queue);
    }
  }
  [[nodiscard]] Weights weighted(const config::kind::Weights& weights,
                                 std::uint64_t phase = 0) const {
    config::Pool pool;
    pool.weights = weights;
    return {pool, queues, phase};
  }
  [[nodiscard]] Weights strict() const {
    config::Pool pool;
    pool.strict = true;
    return {pool, queues, 0};
  }
  std::vector<ServedQueue> queues;
};

using Counts = std::map<std::uint32_t, std::size_t>;

// This number of leases of a worker that finds work in these queues only.
Counts leases(Weights& weights, std::size_t count, const std::set<std::uint32_t>& with_work) {
  Counts taken;
  for (std::size_t i = 0; i < count; ++i) {
    const auto order = weights.order();
    const auto next = std::find_if(order.begin(), order.end(),
                                   [&](std::uint32_t id) { return with_work.count(id) != 0; });
    ++taken[*next];
    weights.leased(*next);
  }
  return taken;
}

std::vector<queue::Partition> partitions(std::uint32_t queue_id, std::uint32_t count) {
  std::vector<queue::Partition> found;
  for (std::uint32_t i = 0; i < count; ++i) found.push_back({queue_id, i});
  return found;
}

Counts counted(const std::vector<ipc::Hint>& hints) {
  Counts counts;
  for (const ipc::Hint hint : hints) ++counts[hint_queue(hint)];
  return counts;
}

TEST(WeightsTest, APoolWithoutThemHasNone) {
  EXPECT_TRUE(Weights().none());
  EXPECT_TRUE(Weights(config::Pool(), Served(2).queues, 7).none());
  EXPECT_FALSE(Served(2).strict().none());
  EXPECT_FALSE(Served(2).weighted({{"a", 3}}).none());
}

TEST(WeightsTest, EachRoundHasTheWeightsAndNoQueueWaitsForItsEnd) {
  Weights weights = Served(2).weighted({{"a", 3}, {"b", 1}});
  std::vector<std::uint32_t> taken;
  for (int i = 0; i < 8; ++i) {
    taken.push_back(weights.order().front());
    weights.leased(taken.back());
  }
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{1, 1, 2, 1, 1, 1, 2, 1}));
}

TEST(WeightsTest, AQueueWithoutAWeightHasOne) {
  Weights weights = Served(3).weighted({{"b", 2}});
  EXPECT_EQ(leases(weights, 400, {1, 2, 3}), (Counts{{1, 100}, {2, 200}, {3, 100}}));
}

// S13: with any weights, each queue has its turn once in a round.
TEST(WeightsTest, NoQueueStarves) {
  Weights weights = Served(3).weighted({{"a", 1000}, {"b", 10}, {"c", 1}});
  EXPECT_EQ(leases(weights, 1011, {1, 2, 3}), (Counts{{1, 1000}, {2, 10}, {3, 1}}));
}

// Otherwise a worker that only runs for a lease or two would always begin with the same queue.
TEST(WeightsTest, WorkersBeginAtDifferentPlacesOfTheRound) {
  const Served served(2);
  Counts first;
  for (std::uint64_t phase = 0; phase < 4; ++phase) {
    ++first[served.weighted({{"a", 3}, {"b", 1}}, phase).order().front()];
  }
  EXPECT_EQ(first, (Counts{{1, 3}, {2, 1}}));
}

TEST(WeightsTest, UnusedShareIsUsedByOthers) {
  Weights weights = Served(2).weighted({{"a", 3}, {"b", 1}});
  EXPECT_EQ(leases(weights, 100, {2}), (Counts{{2, 100}}));
}

// The credit for the time in which it was empty is limited.
TEST(WeightsTest, AQueueThatComesBackDoesNotShutTheOthersOut) {
  for (const std::uint32_t idle : {1U, 2U}) {
    Weights weights = Served(2).weighted({{"a", 3}, {"b", 1}});
    leases(weights, 10'000, {3 - idle});
    // One queue owes two rounds, the other is owed two.
    leases(weights, 16, {1, 2});
    EXPECT_EQ(leases(weights, 400, {1, 2}), (Counts{{1, 300}, {2, 100}})) << idle;
  }
}

// Its partitions were all leased for a moment: the ratio still holds.
TEST(WeightsTest, ATurnThatWasMissedIsMadeUpFor) {
  Weights weights = Served(2).weighted({{"a", 3}, {"b", 1}});
  Counts all;
  for (int i = 0; i < 100; ++i) {
    for (const auto& [id, count] : leases(weights, 1, {2})) all[id] += count;
    for (const auto& [id, count] : leases(weights, 7, {1, 2})) all[id] += count;
  }
  EXPECT_EQ(all, (Counts{{1, 600}, {2, 200}}));
}

TEST(WeightsTest, StrictIsTheOrderOfTheQueues) {
  Weights weights = Served(3).strict();
  EXPECT_EQ(weights.order(), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(leases(weights, 100, {1, 2, 3}), (Counts{{1, 100}}));
  EXPECT_EQ(leases(weights, 100, {2, 3}), (Counts{{2, 100}}));
  EXPECT_EQ(weights.order(), (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(WeightsTest, TheBoardHasTheFirstQueuesHintsOfAStrictPool) {
  auto found = partitions(2, 512);
  const auto higher = partitions(1, 3);
  found.insert(found.end(), higher.begin(), higher.end());
  const auto hints = Served(2).strict().hints(found);
  EXPECT_EQ(counted(hints), (Counts{{1, 3}, {2, ipc::kMaxHints - 3}}));
  EXPECT_EQ(hints.front(), make_hint(1, 0));
  EXPECT_EQ(hints.back(), make_hint(2, ipc::kMaxHints - 4));
}

TEST(WeightsTest, TheBoardHasHintsOfEachQueueByItsWeight) {
  auto found = partitions(1, 512);
  const auto other = partitions(2, 512);
  found.insert(found.end(), other.begin(), other.end());
  const Served served(2);
  EXPECT_EQ(counted(served.weighted({{"a", 3}, {"b", 1}}).hints(found)),
            (Counts{{1, 384}, {2, 128}}));
  EXPECT_EQ(counted(served.weighted({{"b", 1000}}).hints(partitions(1, 20))), (Counts{{1, 20}}))
      << "what is there, whatever the weights";
}

// S13: for each queue, the partition that was unleased for longest.
TEST(WeightsTest, HintsOfAQueueStayInTheirOrder) {
  const std::vector<queue::Partition> found{{2, 7}, {1, 5}, {2, 3}, {1, 1}, {2, 9}};
  std::map<std::uint32_t, std::vector<std::uint32_t>> order;
  for (const ipc::Hint hint : Served(2).weighted({{"a", 2}}).hints(found)) {
    order[hint_queue(hint)].push_back(hint_partition(hint));
  }
  EXPECT_EQ(order[1], (std::vector<std::uint32_t>{5, 1}));
  EXPECT_EQ(order[2], (std::vector<std::uint32_t>{7, 3, 9}));
}

}  // namespace
}  // namespace allot::worker
