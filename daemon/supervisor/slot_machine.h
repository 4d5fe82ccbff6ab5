// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// The states of a slot, as one table. It only gives the next state; the supervisor acts.
//
//   Vacant --spawned--> Starting --ready--> Ready --retire--> Retiring
//                          |  \______________ | _______________/  |
//                          |         stop     v                   |
//                          |               Stopping --kill--> Killed
//                          died, from any of them: Settling when the worker left something behind,
//                          else Vacant; Settling --settled--> Vacant
namespace allot::supervisor {

enum class SlotState {
  kVacant,    // to be given out
  kStarting,  // a worker runs, and was not idle yet
  kReady,     // leasing and running tasks
  kRetiring,  // asked to leave after its task (HUP): no deadline
  kStopping,  // asked to stop (TERM): killed when the patience is over
  kKilled,    // SIGKILL sent, not reaped yet
  kSettling,  // dead; a settler heals the rest (S8)
};
inline constexpr std::size_t kSlotStates = 7;

enum class SlotEvent { kSpawned, kReady, kRetire, kStop, kKill, kDiedClean, kDiedDirty, kSettled };
inline constexpr std::size_t kSlotEvents = 8;

// kNo: this event cannot happen in this state; the state stays. One row of the table for each
// state, one column for each event.
inline constexpr auto kNo = static_cast<SlotState>(-1);
// clang-format off
inline SlotState next_state(SlotState state, SlotEvent event) {
  using enum SlotState;
  static constexpr SlotState kTable[kSlotStates][kSlotEvents] = {
    // spawned   ready      retire     stop       kill     died clean  died dirty  settled
    {kStarting,  kNo,       kNo,       kNo,       kNo,     kNo,        kNo,        kNo},      // Vacant
    {kNo,        kReady,    kRetiring, kStopping, kKilled, kVacant,    kSettling,  kNo},      // Starting
    {kNo,        kReady,    kRetiring, kStopping, kKilled, kVacant,    kSettling,  kNo},      // Ready
    {kNo,        kRetiring, kRetiring, kStopping, kKilled, kVacant,    kSettling,  kNo},      // Retiring
    {kNo,        kStopping, kStopping, kStopping, kKilled, kVacant,    kSettling,  kNo},      // Stopping
    {kNo,        kKilled,   kKilled,   kKilled,   kKilled, kVacant,    kSettling,  kNo},      // Killed
    {kNo,        kNo,       kNo,       kNo,       kNo,     kNo,        kNo,        kVacant},  // Settling
  };
  return kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
}
// clang-format on

// A worker process belongs to the slot.
inline bool alive(SlotState state) {
  return state != SlotState::kVacant && state != SlotState::kSettling;
}
// The worker counts towards the size of its pool.
inline bool serving(SlotState state) {
  return state == SlotState::kStarting || state == SlotState::kReady;
}

}  // namespace allot::supervisor
