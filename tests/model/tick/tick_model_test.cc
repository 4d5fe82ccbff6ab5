// SPDX-License-Identifier: Apache-2.0
// Each tick is submitted once, or dropped by policy, in every state that the model can reach; with
// one of the rules S33 to S37, S46 and S57 removed, a story shows the harm.
#include <gtest/gtest.h>

#include <cctype>
#include <iostream>
#include <string>

#include "model/tick/tick_world.h"

namespace allot::model::tick {

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
  EXPECT_EQ(found.dead_ends, 0U) << "the schedule stops after\n" << found.story;
}

class TickRulesTest : public testing::TestWithParam<Scenario> {};

TEST_P(TickRulesTest, Hold) {
  expect_sound(explored(GetParam()));
}

const Scenario kScenarios[] = {
    {.name = "two stewards"},
    {.name = "kills, lost packets", .stalls = 2, .losses = 2, .kills = 2},
    {.name = "clock back, lost packet", .stalls = 1, .losses = 1, .clock_back = 2},
    {.name = "clock ahead and back", .stalls = 1, .clock_back = 1, .clock_ahead = 1},
    {.name = "clock steps back", .stalls = 2, .losses = 1, .clock_step = 1},
    {.name = "clock steps and jumps back", .stalls = 1, .clock_back = 1, .clock_step = 1},
    {.name = "clock ahead and back, pause",
     .losses = 1,
     .clock_back = 1,
     .clock_ahead = 1,
     .pauses = 1},
    {.name = "changes", .stalls = 2, .losses = 1, .changes = 2},
    {.name = "pauses, changes", .stalls = 1, .losses = 1, .changes = 1, .pauses = 2},
    {.name = "removed and made again", .stalls = 2, .losses = 1, .kills = 1, .removals = 2},
    {.name = "removed, clock back", .stalls = 1, .losses = 1, .clock_back = 1, .removals = 1},
    {.name = "once", .late = Late::kOnce, .stalls = 2, .losses = 1, .kills = 1, .pauses = 1},
    {.name = "skip", .late = Late::kSkip, .stalls = 2, .losses = 1, .kills = 1, .pauses = 1},
    {.name = "once, clock", .late = Late::kOnce, .stalls = 1, .clock_back = 1, .clock_ahead = 1},
    {.name = "skip, clock", .late = Late::kSkip, .stalls = 1, .clock_back = 1, .clock_ahead = 1},
    {.name = "a host's clock is ahead", .stalls = 1, .host_ahead = true},
};

INSTANTIATE_TEST_SUITE_P(Model, TickRulesTest, testing::ValuesIn(kScenarios), case_name);

class TickMutationTest : public testing::TestWithParam<Scenario> {};

TEST_P(TickMutationTest, IsFound) {
  Scenario control = GetParam();
  control.without = Mutation::kNone;
  expect_sound(explored(control));
  const Walked found = explored(GetParam());
  EXPECT_TRUE(found.broken != 0 || found.dead_ends != 0)
      << "no harm in " << found.states << " states";
  std::cout << name_of(static_cast<Broken>(found.broken)) << "\n" << found.story;
}

const Scenario kMutations[] = {
    {.name = "S46 leading permits", .without = Mutation::kLeadingPermits},
    {.name = "S33 the guard is a count", .without = Mutation::kCountNotError},
    {.name = "S33 two transactions", .without = Mutation::kTwoTransactions},
    {.name = "S34 next in memory", .kills = 1, .without = Mutation::kNextInMemory},
    {.name = "S34 next after now", .without = Mutation::kNextFromNow},
    {.name = "S35 no version", .changes = 1, .without = Mutation::kNoVersion},
    {.name = "S35 no version, made again",
     .clock_back = 1,
     .removals = 1,
     .without = Mutation::kNoVersion},
    {.name = "S36 a bound that stops", .without = Mutation::kBoundStops},
    {.name = "S37 a host's clock", .host_ahead = true, .without = Mutation::kHostClock},
    {.name = "S57 no bound", .clock_back = 1, .clock_ahead = 1, .without = Mutation::kNoBound},
    {.name = "S57 no tolerance", .clock_step = 1, .without = Mutation::kNoTolerance},
    {.name = "S57 an unguarded reset", .clock_back = 1, .without = Mutation::kResetUnguarded},
};

INSTANTIATE_TEST_SUITE_P(Model, TickMutationTest, testing::ValuesIn(kMutations), case_name);

}  // namespace
}  // namespace allot::model::tick
