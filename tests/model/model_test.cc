// SPDX-License-Identifier: Apache-2.0
// The rules hold in every state that the model can reach; with one of them removed, a story shows
// the harm.
// Rules: S1, S2, S7, S20, S77.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "model/explore.h"

namespace allot::model {

// GoogleTest prints and names the cases with these.
static std::ostream& operator<<(std::ostream& out, const Scenario& scenario) {
  return out << scenario.name;
}

namespace {

constexpr std::size_t kMost = 20'000'000;

Findings explored(const Scenario& scenario) {
  const auto start = std::chrono::steady_clock::now();
  Findings found = explore(scenario, kMost);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << scenario.name << ": " << found.states << " states, " << found.steps << " steps, "
            << took.count() << " s\n";
  return found;
}

std::string case_name(const Scenario& scenario) {
  std::string name;
  bool capital = true;
  for (const char* at = scenario.name; *at != '\0'; ++at) {
    const bool letter = std::isalnum(static_cast<unsigned char>(*at)) != 0;
    if (letter) name += capital ? static_cast<char>(std::toupper(*at)) : *at;
    capital = !letter;
  }
  return name;
}

// ---- the rules as they are ---------------------------------------------------------------------

class RulesTest : public testing::TestWithParam<Scenario> {};

TEST_P(RulesTest, Hold) {
  const Findings found = explored(GetParam());
  EXPECT_EQ(found.broken, Broken::kNothing) << name_of(found.broken) << "\n" << found.story;
  ASSERT_TRUE(found.whole || found.broken != Broken::kNothing) << "more than kMost states";
  EXPECT_EQ(found.dead_ends, 0U) << "no way on to a verdict for every task after\n" << found.story;
}

const Scenario kScenarios[] = {
    {.name = "crash", .crashes = 1},
    {.name = "two crashes", .tasks = 2, .crashes = 2},
    {.name = "crash, lost call", .tasks = 2, .crashes = 1, .stalls = 1, .losses = 1},
    {.name = "host lost, drift", .tasks = 2, .host_losses = 1, .drifts = 1},
    {.name = "host lost, crash", .tasks = 2, .crashes = 1, .host_losses = 1},
    {.name = "two crashes, lost call",
     .tasks = 1,
     .submitted = 1,
     .crashes = 2,
     .stalls = 1,
     .losses = 1},
    {.name = "two lost calls", .tasks = 1, .submitted = 1, .stalls = 2, .losses = 2},
    {.name = "clock ahead, drift", .tasks = 2, .clock_steps = 1, .drifts = 1},
    {.name = "clock back, host lost", .tasks = 2, .host_losses = 1, .clock_returns = 1},
    {.name = "two hosts lost", .tasks = 2, .host_losses = 2},
    {.name = "host lost, a backlog", .submitted = 3, .host_losses = 1},
    {.name = "crash, drift, slow call", .tasks = 2, .crashes = 1, .stalls = 1, .drifts = 1},
    {.name = "outcomes, crash", .tasks = 1, .submitted = 1, .crashes = 1, .outcomes = true},
    {.name = "outcomes, host lost", .tasks = 1, .submitted = 1, .host_losses = 1, .outcomes = true},
    {.name = "outcomes, lost call",
     .tasks = 1,
     .submitted = 1,
     .stalls = 1,
     .losses = 1,
     .outcomes = true},
    {.name = "outcomes, ids", .tasks = 2, .outcomes = true, .ids = true},
    {.name = "detach", .detach = true},
    {.name = "detach, crash", .tasks = 2, .crashes = 1, .detach = true},
    {.name = "detach, host lost", .tasks = 2, .host_losses = 1, .detach = true},
    {.name = "detach, lost call", .tasks = 2, .stalls = 1, .losses = 1, .detach = true},
    {.name = "detach, host lost, slow call",
     .tasks = 1,
     .submitted = 1,
     .host_losses = 1,
     .stalls = 1,
     .detach = true},
    {.name = "detach, drift", .tasks = 2, .drifts = 1, .behind = true, .detach = true},
    {.name = "detach, outcomes", .tasks = 2, .outcomes = true, .detach = true},
    {.name = "poison", .time_stands = true, .poison = Poison::kProcess},
    {.name = "poison, slow", .poison = Poison::kProcess},
    {.name = "poison, detach", .tasks = 2, .detach = true, .poison = Poison::kProcess},
    {.name = "poison for hosts", .poison = Poison::kHost},
    {.name = "poison for hosts, behind", .behind = true, .poison = Poison::kHost},
    {.name = "poison for hosts, crash", .tasks = 2, .crashes = 1, .poison = Poison::kHost},
    {.name = "poison for hosts, lost call",
     .tasks = 2,
     .stalls = 1,
     .losses = 1,
     .poison = Poison::kHost},
    {.name = "poison for hosts, detach", .tasks = 2, .detach = true, .poison = Poison::kHost},
    {.name = "nothing twice", .crashes = 2, .detach = true, .time_stands = true},
    {.name = "nothing twice, outcomes",
     .tasks = 2,
     .crashes = 2,
     .outcomes = true,
     .behind = true,
     .detach = true,
     .time_stands = true},
    {.name = "hang", .hangs = 1},
    {.name = "failover", .tasks = 2, .failovers = 1},
    {.name = "stewards", .tasks = 2, .hangs = 1, .blind_stewards = 1, .stewards = true},
    {.name = "stewards, host lost, drift",
     .tasks = 1,
     .submitted = 1,
     .host_losses = 1,
     .drifts = 1,
     .blind_stewards = 1,
     .stewards = true},
    {.name = "stewards, clock ahead, drift",
     .tasks = 2,
     .clock_steps = 1,
     .drifts = 1,
     .blind_stewards = 1,
     .stewards = true},
    {.name = "stewards, clock back, host lost",
     .tasks = 1,
     .submitted = 1,
     .host_losses = 1,
     .clock_returns = 1,
     .blind_stewards = 1,
     .stewards = true},
    {.name = "stewards, lost call",
     .tasks = 1,
     .submitted = 1,
     .stalls = 1,
     .losses = 1,
     .blind_stewards = 1,
     .stewards = true},
    {.name = "stewards, detach, host lost",
     .tasks = 2,
     .host_losses = 1,
     .blind_stewards = 1,
     .detach = true,
     .stewards = true},
};

INSTANTIATE_TEST_SUITE_P(Model, RulesTest, testing::ValuesIn(kScenarios),
                         [](const auto& test) { return case_name(test.param); });

// Takes minutes and gigabytes; README.md has the command.
const Scenario kWide[] = {
    {.name = "crash, host lost, slow calls",
     .tasks = 2,
     .crashes = 1,
     .host_losses = 1,
     .stalls = 2},
    {.name = "crash, host lost, detach",
     .tasks = 2,
     .crashes = 1,
     .host_losses = 1,
     .detach = true},
    {.name = "crash, lost call, detach, outcomes",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .stalls = 1,
     .losses = 1,
     .outcomes = true,
     .detach = true},
    {.name = "host lost, clock ahead, drift, slow call",
     .tasks = 1,
     .submitted = 1,
     .host_losses = 1,
     .stalls = 1,
     .clock_steps = 1,
     .drifts = 1},
    {.name = "outcomes, crash, two tasks", .tasks = 2, .crashes = 1, .outcomes = true},
};

INSTANTIATE_TEST_SUITE_P(DISABLED_Wide, RulesTest, testing::ValuesIn(kWide),
                         [](const auto& test) { return case_name(test.param); });

// ---- one rule removed --------------------------------------------------------------------------

class MutationTest : public testing::TestWithParam<Scenario> {};

TEST_P(MutationTest, IsFound) {
  Scenario control = GetParam();
  control.without = Mutation::kNone;
  const Findings sound = explore(control, kMost);
  EXPECT_TRUE(sound.whole && sound.broken == Broken::kNothing && sound.dead_ends == 0)
      << "the harm is there with the rule, too:\n"
      << sound.story;
  const Findings found = explored(GetParam());
  EXPECT_TRUE(found.broken != Broken::kNothing || found.dead_ends != 0)
      << "no harm in " << found.states << " states";
  if (found.broken != Broken::kNothing) std::cout << name_of(found.broken) << "\n";
  if (found.dead_ends != 0) std::cout << "no way on to a verdict for every task\n";
  std::cout << found.story;
}

const Scenario kMutations[] = {
    {.name = "no fence on retry",
     .tasks = 1,
     .submitted = 1,
     .outcomes = true,
     .without = Mutation::kNoRetryFence},
    {.name = "no fence on bury",
     .tasks = 1,
     .submitted = 1,
     .outcomes = true,
     .without = Mutation::kNoBuryFence},
    {.name = "no fence on release", .tasks = 2, .without = Mutation::kNoReleaseFence},
    {.name = "no fence on renew", .tasks = 1, .submitted = 1, .without = Mutation::kNoRenewFence},
    {.name = "no fence on charge",
     .tasks = 1,
     .submitted = 1,
     .stalls = 1,
     .without = Mutation::kNoChargeFence},
    {.name = "no fence on clear_suspects",
     .tasks = 1,
     .submitted = 1,
     .stalls = 1,
     .without = Mutation::kNoClearFence},
    {.name = "no fence on settle", .tasks = 2, .crashes = 1, .without = Mutation::kNoSettleFence},
    {.name = "no fence on detach", .tasks = 2, .detach = true, .without = Mutation::kNoDetachFence},
    {.name = "epoch kept at release",
     .tasks = 2,
     .stalls = 1,
     .losses = 1,
     .without = Mutation::kEpochKept},
    {.name = "epoch counted",
     .tasks = 1,
     .submitted = 1,
     .failovers = 1,
     .without = Mutation::kEpochCounted},
    {.name = "blind renewal", .tasks = 2, .hangs = 1, .without = Mutation::kBlindRenewal},
    {.name = "deadline not checked", .tasks = 2, .without = Mutation::kNoDeadlineCheck},
    {.name = "takeover without S4",
     .tasks = 2,
     .clock_steps = 1,
     .without = Mutation::kTakeoverWithoutS4},
    {.name = "takeover by the watcher's own TTL",
     .tasks = 2,
     .without = Mutation::kTakeoverByOwnTtl},
    {.name = "a takeover by the page names nothing",
     .tasks = 2,
     .clock_steps = 1,
     .stewards = true,
     .without = Mutation::kPageNamesNothing},
    {.name = "a page that is old is used",
     .tasks = 2,
     .hangs = 1,
     .blind_stewards = 1,
     .stewards = true,
     .without = Mutation::kPageOld},
    {.name = "a page of another server is used",
     .tasks = 2,
     .hangs = 1,
     .blind_stewards = 1,
     .stewards = true,
     .without = Mutation::kPageOfOtherServer},
    {.name = "a look counts from its sending", .tasks = 2, .without = Mutation::kLookStamp},
    {.name = "no careful mode",
     .tasks = 1,
     .submitted = 1,
     .poison = Poison::kHost,
     .without = Mutation::kNoCarefulMode},
    {.name = "careful with all that was due",
     .submitted = 3,
     .host_losses = 1,
     .without = Mutation::kCarefulForAll},
    {.name = "a crash ends the suspicion",
     .tasks = 2,
     .detach = true,
     .poison = Poison::kProcess,
     .without = Mutation::kCrashClears},
    {.name = "no crash charge",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .without = Mutation::kNoCrashCharge},
    {.name = "marked as running before its start",
     .tasks = 2,
     .crashes = 1,
     .without = Mutation::kMarkedEarly},
    {.name = "snooze charges",
     .tasks = 1,
     .submitted = 1,
     .outcomes = true,
     .without = Mutation::kSnoozeCharges},
    {.name = "ack before the handler returns",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .without = Mutation::kEarlyAck},
    {.name = "settle before KILL CONNECTION",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .without = Mutation::kSettleBeforeKill},
    {.name = "ring forgotten",
     .tasks = 2,
     .crashes = 1,
     .time_stands = true,
     .without = Mutation::kRingForgotten},
    {.name = "detach without ack",
     .tasks = 2,
     .behind = true,
     .detach = true,
     .time_stands = true,
     .without = Mutation::kDetachWithoutAck},
    {.name = "history without a condition",
     .tasks = 1,
     .submitted = 1,
     .outcomes = true,
     .ids = true,
     .without = Mutation::kHistoryBlind},
    {.name = "no recovery of detached tasks",
     .tasks = 1,
     .submitted = 1,
     .host_losses = 1,
     .detach = true,
     .without = Mutation::kNoRecovery},
    {.name = "no suspicion of what was recovered",
     .tasks = 2,
     .detach = true,
     .poison = Poison::kHost,
     .without = Mutation::kNoSuspicion},
    {.name = "a charge that lowers",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .stalls = 1,
     .losses = 1,
     .poison = Poison::kHost,
     .without = Mutation::kChargeLowers},
    {.name = "no refund by the settler",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .host_losses = 1,
     .without = Mutation::kNoRefund},
};

// ---- what does not hold ------------------------------------------------------------------------

// README.md explains each. When one is fixed, its case fails here and becomes one of the rules.
class LimitTest : public testing::TestWithParam<Scenario> {};

TEST_P(LimitTest, IsKnown) {
  const Findings found = explored(GetParam());
  EXPECT_NE(found.broken, Broken::kNothing) << "fixed; see the comment above";
  std::cout << name_of(found.broken) << "\n" << found.story;
}

const Scenario kLimits[] = {
    {.name = "a clock that drifts by more than the margin",
     .tasks = 1,
     .submitted = 1,
     .drifts = 2},
    {.name = "an attempt announced and never started",
     .tasks = 1,
     .submitted = 1,
     .crashes = 1,
     .host_losses = 1,
     .strict = Limit::kAnnounced},
};

INSTANTIATE_TEST_SUITE_P(Model, LimitTest, testing::ValuesIn(kLimits),
                         [](const auto& test) { return case_name(test.param); });

INSTANTIATE_TEST_SUITE_P(Model, MutationTest, testing::ValuesIn(kMutations),
                         [](const auto& test) { return case_name(test.param); });

}  // namespace
}  // namespace allot::model
