// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "ipc/slot.h"

namespace allot::peer {

// Problems with shared files that another version of Allot has made, and how to fix them.
inline constexpr const char* kPreRelease =
    "from a pre-release Allot; stop that allotd and start this one";
inline constexpr const char* kOtherVersion =
    "from another version of Allot; use the programs of that version, or restart allotd";

// Why these slots cannot be read; nullptr: they can.
inline const char* trouble_with(const ipc::SlotFileHeader& header) {
  if (std::memcmp(header.magic, "allotslt", sizeof header.magic) == 0) {
    return kPreRelease;
  }
  if (std::memcmp(header.magic, ipc::kSlotMagic, sizeof header.magic) != 0)
    return "not a slot file";
  if (header.version == ipc::kSlotVersion && header.slot_size == sizeof(ipc::Slot)) return nullptr;
  return kOtherVersion;
}

// Whether the run left its partition to other workers, and has its own lease.
inline constexpr bool is_detached(ipc::RunState state) {
  return state >= ipc::RunState::kRunningDetached;
}

}  // namespace allot::peer
