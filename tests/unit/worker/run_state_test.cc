// SPDX-License-Identifier: Apache-2.0
#include "process/run_state.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "peer/slot_file.h"

namespace allot::worker {
namespace {

using ipc::RunState;

std::vector<RunState> all_states() {
  std::vector<RunState> states;
  for (std::size_t i = 0; i < process::kRunStates; ++i) states.push_back(static_cast<RunState>(i));
  return states;
}

std::vector<process::RunEvent> all_events() {
  std::vector<process::RunEvent> events;
  for (std::size_t i = 0; i < process::kRunEvents; ++i)
    events.push_back(static_cast<process::RunEvent>(i));
  return events;
}

RunState after(std::initializer_list<process::RunEvent> events) {
  RunState state = RunState::kFree;
  for (const process::RunEvent event : events) {
    const auto to = process::next_state(state, event);
    EXPECT_TRUE(to) << static_cast<int>(state) << ' ' << static_cast<int>(event);
    state = to.value_or(state);
  }
  return state;
}

TEST(RunStateTest, EveryPairHasAnAnswer) {
  std::size_t valid = 0;
  for (const RunState state : all_states()) {
    for (const process::RunEvent event : all_events()) {
      const auto to = process::next_state(state, event);
      if (!to) continue;
      EXPECT_LT(static_cast<std::size_t>(*to), process::kRunStates);
      EXPECT_NE(*to, state);
      ++valid;
    }
  }
  EXPECT_EQ(valid, 19U);
}

TEST(RunStateTest, EveryStateIsReachedAndLeadsBackToFree) {
  std::set<RunState> seen{RunState::kFree};
  std::vector<RunState> open{RunState::kFree};
  std::set<std::pair<RunState, RunState>> steps;
  while (!open.empty()) {
    const RunState state = open.back();
    open.pop_back();
    for (const process::RunEvent event : all_events()) {
      const auto to = process::next_state(state, event);
      if (!to) continue;
      steps.insert({state, *to});
      if (seen.insert(*to).second) open.push_back(*to);
    }
  }
  EXPECT_EQ(seen.size(), process::kRunStates);
  for (const RunState state : all_states()) {
    if (state == RunState::kFree || ipc::in_handler(state)) continue;
    EXPECT_TRUE(steps.count({state, RunState::kFree})) << static_cast<int>(state);
  }
}

// A run that left its partition never comes back into it, but only ends.
TEST(RunStateTest, DetachedStaysDetached) {
  for (const RunState state : all_states()) {
    if (!peer::is_detached(state)) continue;
    for (const process::RunEvent event : all_events()) {
      const auto to = process::next_state(state, event).value_or(state);
      EXPECT_TRUE(peer::is_detached(to) || to == RunState::kFree);
    }
  }
}

TEST(RunStateTest, TheWaysOfARun) {
  using enum process::RunEvent;
  EXPECT_EQ(after({kBegin, kReturn, kFinish, kEnd}), RunState::kFree);
  EXPECT_EQ(after({kAnnounce, kRefund, kEnd}), RunState::kFree);
  EXPECT_EQ(after({kAnnounce, kBegin, kReturn, kRefund}), RunState::kRefunding);
  EXPECT_EQ(after({kBegin, kDetach, kReturn, kFinish}), RunState::kFinishedDetached);
  // The handler returned during the detach.
  EXPECT_EQ(after({kBegin, kReturn, kDetach, kRefund}), RunState::kRefundingDetached);
}

}  // namespace
}  // namespace allot::worker
