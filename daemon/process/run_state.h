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

// nullopt: this event cannot happen in this state; the state stays.
std::optional<ipc::RunState> next_state(ipc::RunState state, RunEvent event);

}  // namespace allot::process
