// SPDX-License-Identifier: Apache-2.0
#include "supervisor/slot_machine.h"

namespace allot::supervisor {
namespace {

using S = SlotState;

constexpr Transition go(SlotState next) {
  return {true, next};
}
constexpr Transition kNo{false, SlotState::kVacant};

// Rows in the order of SlotState, columns in the order of SlotEvent.
// clang-format off
constexpr Transition kTable[kSlotStates][kSlotEvents] = {
  //              spawned           ready            retire            stop              kill            died clean       died dirty        settled
  /* Vacant   */ {go(S::kStarting), kNo,             kNo,              kNo,              kNo,            kNo,             kNo,              kNo},
  /* Starting */ {kNo,              go(S::kReady),   go(S::kRetiring), go(S::kStopping), go(S::kKilled), go(S::kVacant),  go(S::kSettling), kNo},
  /* Ready    */ {kNo,              go(S::kReady),   go(S::kRetiring), go(S::kStopping), go(S::kKilled), go(S::kVacant),  go(S::kSettling), kNo},
  /* Retiring */ {kNo,              go(S::kRetiring),go(S::kRetiring), go(S::kStopping), go(S::kKilled), go(S::kVacant),  go(S::kSettling), kNo},
  /* Stopping */ {kNo,              go(S::kStopping),go(S::kStopping), go(S::kStopping), go(S::kKilled), go(S::kVacant),  go(S::kSettling), kNo},
  /* Killed   */ {kNo,              go(S::kKilled),  go(S::kKilled),   go(S::kKilled),   go(S::kKilled), go(S::kVacant),  go(S::kSettling), kNo},
  /* Settling */ {kNo,              kNo,             kNo,              kNo,              kNo,            kNo,             kNo,              go(S::kVacant)},
};
// clang-format on

}  // namespace

Transition next_state(SlotState state, SlotEvent event) {
  const Transition found = kTable[static_cast<int>(state)][static_cast<int>(event)];
  return found.valid ? found : Transition{false, state};
}

}  // namespace allot::supervisor
