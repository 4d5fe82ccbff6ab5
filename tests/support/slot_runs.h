// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ipc/slot.h"

// Runs of a slot, for tests.
namespace allot::support {

// Entries in use.
inline std::size_t runs_in(const ipc::Slot& slot) {
  std::size_t count = 0;
  for (std::size_t entry = 0; entry < ipc::kMaxRunning; ++entry) {
    if (slot.run_states[entry].load() != ipc::RunState::kFree) ++count;
  }
  return count;
}

inline std::size_t runs_in(const ipc::Slot& slot, ipc::RunState state) {
  std::size_t count = 0;
  for (std::size_t entry = 0; entry < ipc::kMaxRunning; ++entry) {
    if (slot.run_states[entry].load() == state) ++count;
  }
  return count;
}

inline std::uint64_t hard_deadline(const ipc::Slot& slot, std::size_t entry = 0) {
  return std::atomic_ref(const_cast<std::uint64_t&>(slot.runs[entry].hard_deadline_ns)).load();
}

}  // namespace allot::support
