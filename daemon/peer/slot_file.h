// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "ipc/slot.h"

namespace allot::peer {

// Why these slots cannot be read; nullptr: they can.
inline const char* trouble_with(const ipc::SlotFileHeader& header) {
  if (std::memcmp(header.magic, "allotslt", sizeof header.magic) == 0) {
    return "of a pre-release Allot; stop that allotd and start this one";
  }
  if (std::memcmp(header.magic, ipc::kSlotMagic, sizeof header.magic) != 0)
    return "not a slot file";
  if (header.version == ipc::kSlotVersion && header.slot_size == sizeof(ipc::Slot)) return nullptr;
  return "of another version of Allot; use the programs of that version, or restart allotd";
}

// Whether the run left its partition to other workers, and has a lease of its own.
inline constexpr bool is_detached(ipc::RunState state) {
  return state >= ipc::RunState::kRunningDetached;
}

}  // namespace allot::peer
