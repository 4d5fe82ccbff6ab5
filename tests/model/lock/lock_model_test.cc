// SPDX-License-Identifier: Apache-2.0
// A named lock has one holder, in every state that the model can reach; with one of the rules S38
// to S41, S48 and S67 removed, a story shows the harm.
// Rule: S4.
#include <gtest/gtest.h>

#include <cctype>
#include <iostream>
#include <string>

#include "model/lock/lock_world.h"

namespace allot::model::lock {

// GoogleTest prints and names the cases with these.
static std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
  return out << scenario.name;
}

namespace {

constexpr std::size_t kMost = 20'000'000;

Walked explored(const Scenario& scenario) {
  const World world(scenario);
  Walked found = Walk(world, kMost).run();
  std::cout << scenario.name << ": " << found.states << " states, " << found.steps << " steps\n";
  return found;
}

std::string case_name(const testing::TestParamInfo<Scenario>& info) {
  std::string name;
  bool capital = true;
  for (const char* at = info.param.name; *at != '\0'; ++at) {
    const bool letter = std::isalnum(static_cast<unsigned char>(*at)) != 0;
    if (letter) name += capital ? static_cast<char>(std::toupper(*at)) : *at;
    capital = !letter;
  }
  return name;
}

void expect_sound(const Walked& found) {
  const auto broken = static_cast<Broken>(found.broken);
  EXPECT_EQ(broken, Broken::kNothing) << name_of(broken) << "\n" << found.story;
  ASSERT_TRUE(found.whole || broken != Broken::kNothing) << "more than kMost states";
  EXPECT_EQ(found.dead_ends, 0U) << "the lock stays held after\n" << found.story;
}

class LockRulesTest : public testing::TestWithParam<Scenario> {};

TEST_P(LockRulesTest, Hold) {
  expect_sound(explored(GetParam()));
}

const Scenario kScenarios[] = {
    {.name = "two clients"},
    {.name = "lost calls", .losses = 1},
    {.name = "kills", .kills = 1},
    {.name = "clock back", .clock_back = 1},
    {.name = "clock ahead", .clock_ahead = 1},
    {.name = "clock ahead, lost call", .losses = 1, .clock_ahead = 1},
    {.name = "fail-over", .length = 9, .fail_overs = 1},
    {.name = "by SQL", .kills = 1, .by_sql = true},
    {.name = "by SQL, clock back", .clock_back = 1, .by_sql = true},
    {.name = "by SQL, clock ahead again and again", .clock_ahead = 3, .by_sql = true},
    {.name = "by SQL, clock ahead a little", .small_steps = 2, .by_sql = true},
};

INSTANTIATE_TEST_SUITE_P(Model, LockRulesTest, testing::ValuesIn(kScenarios), case_name);

class LockMutationTest : public testing::TestWithParam<Scenario> {};

TEST_P(LockMutationTest, IsFound) {
  Scenario control = GetParam();
  control.without = Mutation::kNone;
  expect_sound(explored(control));
  const Walked found = explored(GetParam());
  EXPECT_TRUE(found.broken != 0 || found.dead_ends != 0)
      << "no harm in " << found.states << " states";
  std::cout << name_of(static_cast<Broken>(found.broken)) << "\n" << found.story;
}

const Scenario kMutations[] = {
    {.name = "S38 freed by the clock", .clock_ahead = 1, .without = Mutation::kFreedByClock},
    {.name = "S38 half a TTL", .clock_ahead = 1, .without = Mutation::kHalfTtl},
    {.name = "S38 a look counts from its sending", .without = Mutation::kLookStamp},
    {.name = "S38 not as it was seen", .without = Mutation::kNotAsSeen},
    {.name = "S38 deadline from the reply", .without = Mutation::kDeadlineFromReply},
    {.name = "S39 no deadline", .without = Mutation::kNoDeadline},
    {.name = "S38 a release keeps the epoch", .losses = 1, .without = Mutation::kReleaseKeepsEpoch},
    {.name = "S38 no fence on renew", .without = Mutation::kNoFenceOnRenew},
    {.name = "S38 the epoch is the clock", .clock_back = 1, .without = Mutation::kEpochIsTheClock},
    {.name = "S40 no floor", .length = 9, .fail_overs = 1, .without = Mutation::kNoFloor},
    {.name = "S48 no wait after a change",
     .length = 9,
     .fail_overs = 1,
     .without = Mutation::kNoChangeWait},
    {.name = "S67 one sleep", .clock_ahead = 1, .by_sql = true, .without = Mutation::kOneSleep},
    {.name = "S67 unchecked sleeps",
     .clock_ahead = 3,
     .by_sql = true,
     .without = Mutation::kUncheckedSleep},
    {.name = "S67 no spare sleep",
     .small_steps = 2,
     .by_sql = true,
     .without = Mutation::kNoSpareSleep},
    {.name = "S41 taken in a transaction", .without = Mutation::kTakenInTransaction},
};

INSTANTIATE_TEST_SUITE_P(Model, LockMutationTest, testing::ValuesIn(kMutations), case_name);

}  // namespace
}  // namespace allot::model::lock
