// SPDX-License-Identifier: Apache-2.0
#include "fault/draw.h"

#include <gtest/gtest.h>

#include "fault/work.h"

namespace allot::fault {
namespace {

constexpr std::uint64_t kSeeds = 1'000;

TEST(Draw, ASeedGivesTheSameDrawAgain) {
  EXPECT_EQ(make_draw(7), make_draw(7));
  EXPECT_EQ(text_of(make_draw(7)), text_of(make_draw(7)));
  EXPECT_NE(make_draw(7), make_draw(8));
  EXPECT_EQ(item_of(make_draw(7), 1, 5).ndjson(), item_of(make_draw(7), "1.5")->ndjson());
}

TEST(Draw, EachFeatureActionFaultAndPairOfThemComes) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Draw draw = make_draw(seed);
    std::set<std::string> on;
    for (const Feature feature : draw.features) on.insert(name_of(feature));
    for (const Action& action : draw.actions) on.insert(std::string("act ") + name_of(action.act));
    for (std::size_t i = 0; i < kKinds; ++i) {
      if (draw.faults.at(i) != 0)
        seen.insert(std::string("fault ") + name_of(static_cast<Kind>(i)));
    }
    for (const std::string& one : on) {
      for (const std::string& other : on) seen.insert(one + " and " + other);
    }
  }
  constexpr std::size_t kThings = kFeatures + kActs;
  EXPECT_EQ(seen.size(), kThings * kThings + kKinds);
}

// Seeds of README.md's table, each of which finds a defect, and of swarm_test.cc.
TEST(Draw, SeedsFromBeforeDrawTheSame) {
  for (const std::uint64_t seed : {100'001ULL, 500'049ULL, 500'210ULL, 500'463ULL}) {
    const Draw draw = make_draw(seed);
    EXPECT_EQ(draw.load, Load::kMixed) << seed;
    EXPECT_FALSE(draw.binlog) << seed;
    EXPECT_FALSE(draw.tls) << seed;
    EXPECT_FALSE(draw.suffers(Kind::kClockStep)) << seed;
    EXPECT_FALSE(draw.suffers(Kind::kFillRuntime)) << seed;
    EXPECT_TRUE(draw.routes.empty()) << seed;
    EXPECT_EQ(draw.rate.per_second, 0U) << seed;
    EXPECT_TRUE(draw.hosts.front().pools.front().queues.empty()) << seed;
  }
}

TEST(Draw, ACrowdHasNoFaultsAndManyShortTasksSideBySide) {
  std::size_t crowds = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Draw draw = make_draw(seed);
    if (draw.load != Load::kCrowd) continue;
    ++crowds;
    EXPECT_TRUE(draw.faultless() && draw.events.empty()) << seed;
    EXPECT_TRUE(draw.has(Feature::kConcurrency) && draw.has(Feature::kCrash)) << seed;
    for (std::uint64_t number = 1; number <= 100; ++number)
      EXPECT_LE(item_of(draw, 1, number).milliseconds, 2U) << seed;
  }
  EXPECT_GT(crowds, kSeeds / 16);
  EXPECT_LT(crowds, kSeeds / 4);
}

TEST(Draw, OneInThreeHasTls) {
  std::size_t tls = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) tls += make_draw(seed).tls ? 1U : 0U;
  EXPECT_GT(tls, kSeeds / 4);
  EXPECT_LT(tls, kSeeds / 2);
}

TEST(Draw, SomeHaveRoutesARateOrShares) {
  std::size_t routes = 0;
  std::size_t rates = 0;
  std::size_t shares = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Draw draw = make_draw(seed);
    routes += draw.routes.empty() ? 0U : 1U;
    rates += draw.rate.per_second == 0 ? 0U : 1U;
    shares += draw.hosts.front().pools.front().queues.empty() ? 0U : 1U;
  }
  EXPECT_GT(routes, kSeeds / 5);
  EXPECT_GT(rates, kSeeds / 6);
  EXPECT_GT(shares, kSeeds / 6);
}

TEST(Draw, SomeHaveNoFaultAtAll) {
  int without = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    without += make_draw(seed).faultless() ? 1 : 0;
  EXPECT_GT(without, 300);
  EXPECT_LT(without, 600);
}

}  // namespace
}  // namespace allot::fault
