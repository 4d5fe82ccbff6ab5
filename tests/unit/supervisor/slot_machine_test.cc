// SPDX-License-Identifier: Apache-2.0
// Rule: S8.
#include "supervisor/slot_machine.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>

namespace allot::supervisor {
namespace {

using S = SlotState;
using E = SlotEvent;

constexpr std::array kStates{S::kVacant,   S::kStarting, S::kReady,   S::kRetiring,
                             S::kStopping, S::kKilled,   S::kSettling};
constexpr std::array kEvents{E::kSpawned, E::kReady,     E::kRetire,    E::kStop,
                             E::kKill,    E::kDiedClean, E::kDiedDirty, E::kSettled};
static_assert(kStates.size() == kSlotStates);
static_assert(kEvents.size() == kSlotEvents);

// The rules in words, instead of a second copy of the table.
std::optional<S> expected(S state, E event) {
  if (state == S::kVacant) return event == E::kSpawned ? std::optional(S::kStarting) : std::nullopt;
  if (state == S::kSettling) return event == E::kSettled ? std::optional(S::kVacant) : std::nullopt;
  if (event == E::kSpawned || event == E::kSettled) return std::nullopt;
  if (event == E::kDiedClean) return S::kVacant;
  if (event == E::kDiedDirty) return S::kSettling;
  if (event == E::kKill) return S::kKilled;
  // A worker that is leaving never goes back.
  static const std::map<S, int> kRank{
      {S::kStarting, 0}, {S::kReady, 1}, {S::kRetiring, 2}, {S::kStopping, 3}, {S::kKilled, 4}};
  static const std::map<E, S> kGoal{
      {E::kReady, S::kReady}, {E::kRetire, S::kRetiring}, {E::kStop, S::kStopping}};
  const S goal = kGoal.at(event);
  return kRank.at(goal) > kRank.at(state) ? goal : state;
}

TEST(SlotMachine, EveryEventInEveryState) {
  for (const S state : kStates) {
    for (const E event : kEvents) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(state) << " x " << static_cast<int>(event));
      EXPECT_EQ(next_state(state, event), expected(state, event).value_or(kNo));
    }
  }
}

TEST(SlotMachine, ASlotIsGivenOutAgainOnlyAfterSettling) {
  EXPECT_FALSE(alive(next_state(S::kReady, E::kDiedDirty)));
  EXPECT_EQ(next_state(S::kSettling, E::kSpawned), kNo);
  EXPECT_EQ(next_state(next_state(S::kSettling, E::kSettled), E::kSpawned), S::kStarting);
}

}  // namespace
}  // namespace allot::supervisor
