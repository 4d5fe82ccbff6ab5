// SPDX-License-Identifier: Apache-2.0
// One server is used, and it is the last promoted one, in every state that the model can reach;
// with one of the rules S52 and S53 removed, a story shows the harm.
#include <gtest/gtest.h>

#include <cctype>
#include <iostream>
#include <string>

#include "model/term/term_world.h"

namespace allot::model::term {

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
  EXPECT_EQ(found.dead_ends, 0U) << "the writer stays marked after\n" << found.story;
}

class TermRulesTest : public testing::TestWithParam<Scenario> {};

TEST_P(TermRulesTest, Hold) {
  expect_sound(explored(GetParam()));
}

const Scenario kScenarios[] = {
    {.name = "a failover"},
    {.name = "two faults", .faults = 2},
    {.name = "hosts are cut off", .cuts = 2},
    {.name = "hosts start again, cut off", .cuts = 1, .reboots = 1},
    {.name = "promote", .promotes = 2},
    {.name = "promote, cut off", .promotes = 1, .cuts = 1},
    {.name = "back again", .faults = 2, .failovers = 2, .attaches = 1},
    {.name = "back again, cut off", .faults = 2, .failovers = 2, .attaches = 1, .cuts = 1},
    {.name = "back again, promote", .faults = 2, .failovers = 2, .attaches = 1, .promotes = 1},
};

INSTANTIATE_TEST_SUITE_P(Model, TermRulesTest, testing::ValuesIn(kScenarios), case_name);

class TermMutationTest : public testing::TestWithParam<Scenario> {};

TEST_P(TermMutationTest, IsFound) {
  Scenario control = GetParam();
  control.without = Mutation::kNone;
  expect_sound(explored(control));
  const Walked found = explored(GetParam());
  EXPECT_TRUE(found.broken != 0 || found.dead_ends != 0)
      << "no harm in " << found.states << " states";
  std::cout << name_of(static_cast<Broken>(found.broken)) << "\n" << found.story;
}

const Scenario kMutations[] = {
    {.name = "S52 a lower term is used", .without = Mutation::kHighest},
    {.name = "S52 no memory", .cuts = 1, .without = Mutation::kMemory},
    {.name = "S52 equal terms are used", .without = Mutation::kEqual},
    {.name = "S52 no confirmation", .without = Mutation::kConfirm},
    {.name = "S52 promote by one", .promotes = 1, .without = Mutation::kPromoteByOne},
    {.name = "S53 no mark", .without = Mutation::kMark},
    {.name = "S53 a mark is not read", .cuts = 1, .without = Mutation::kMarkIsNotRead},
    {.name = "S53 a mark as it was seen", .promotes = 1, .without = Mutation::kMarkAsSeen},
    {.name = "S53 a mark is not cleared",
     .faults = 2,
     .failovers = 2,
     .attaches = 1,
     .without = Mutation::kClear},
};

INSTANTIATE_TEST_SUITE_P(Model, TermMutationTest, testing::ValuesIn(kMutations), case_name);

// Known limits, see README.md.
class TermLimitTest : public testing::TestWithParam<Scenario> {};

TEST_P(TermLimitTest, IsShown) {
  const Walked found = explored(GetParam());
  EXPECT_NE(found.broken, 0);
  std::cout << name_of(static_cast<Broken>(found.broken)) << "\n" << found.story;
}

const Scenario kLimits[] = {
    {.name = "promote on a host that has seen less",
     .faults = 2,
     .promotes = 2,
     .promoted_unaware = true},
    {.name = "a writable replica, cut off", .cuts = 1, .replica_is_writable = true},
    {.name = "a writable replica, a lock in plain SQL",
     .replica_is_writable = true,
     .notes_in_sql = true},
    {.name = "equal terms, one gives no answer", .cuts = 1, .equal_needs_both = true},
    {.name = "a writer that no worker has met",
     .faults = 2,
     .failovers = 2,
     .attaches = 1,
     .unseen_reign = true},
};

INSTANTIATE_TEST_SUITE_P(Model, TermLimitTest, testing::ValuesIn(kLimits), case_name);

}  // namespace
}  // namespace allot::model::term
