// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "ipc/slot.h"

// The transitions of a run's state in the slot, as one table. SlotWriter keeps to it.
//
//   Free --announce--> Announced --begin--> Running --return--> Returned --finish--> Finished
//     \_______________________begin___________^  |                 |   \--refund--> Refunding
//                                              detach            detach
//                                                v                 v
//                                       RunningDetached --return--> ReturnedDetached, and so on
//
// From each state but Free and those in a handler the end leads back to Free.
namespace allot::process {

enum class RunEvent {
  kAnnounce,  // its attempt is about to be written (S7)
  kBegin,     // its handler is about to be called
  kDetach,    // it has left its partition (B12)
  kReturn,    // its handler has returned
  kFinish,    // it has succeeded, and is about to be listed as finished, or acknowledged
  kRefund,    // it ended without a verdict, and its attempt is about to be taken back
  kEnd,       // its result is written, or another worker has it
};
inline constexpr std::size_t kRunEvents = 7;

inline constexpr std::size_t kRunStates = 10;

// nullopt: this event cannot happen in this state; the state stays. One row of the table for each
// state, one column for each event.
// clang-format off
inline std::optional<ipc::RunState> next_state(ipc::RunState state, RunEvent event) {
  using enum ipc::RunState;
  constexpr auto kNo = static_cast<ipc::RunState>(0xff);
  static constexpr ipc::RunState kTable[kRunStates][kRunEvents] = {
    // announce   begin     detach             return             finish             refund              end
    {kAnnounced,  kRunning, kNo,               kNo,               kNo,               kNo,                kNo},    // Free
    {kNo,         kRunning, kNo,               kNo,               kNo,               kRefunding,         kFree},  // Announced
    {kNo,         kNo,      kRunningDetached,  kReturned,         kNo,               kNo,                kNo},    // Running
    {kNo,         kNo,      kReturnedDetached, kNo,               kFinished,         kRefunding,         kFree},  // Returned
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // Finished
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // Refunding
    {kNo,         kNo,      kNo,               kReturnedDetached, kNo,               kNo,                kNo},    // RunningDetached
    {kNo,         kNo,      kNo,               kNo,               kFinishedDetached, kRefundingDetached, kFree},  // ReturnedDetached
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // FinishedDetached
    {kNo,         kNo,      kNo,               kNo,               kNo,               kNo,                kFree},  // RefundingDetached
  };
  const auto next = kTable[static_cast<std::size_t>(state)][static_cast<std::size_t>(event)];
  return next == kNo ? std::nullopt : std::optional(next);
}
// clang-format on

}  // namespace allot::process
