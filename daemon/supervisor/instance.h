// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.h"
#include "ipc/board.h"
#include "ipc/slot.h"
#include "supervisor/handover.h"

namespace allot::supervisor {

// The files of one running instance: lock, slots, board, in its runtime folder.
class Instance {
 public:
  enum class Lock {
    kTaken,
    kBusy,     // workers of an earlier run still have it: try again
    kRefused,  // logged: another allotd runs under this name, or the folder is unusable
  };

  // Tries to lock the folder. May be called again after kBusy.
  Lock lock(const char* folder);

  // Makes new slots and a new board, and maps them; processes of an earlier run keep the old files.
  // Takes the room of the board and of so many slots. False was logged.
  bool make_files(const char* folder, const char* name, std::uint32_t workers);

  // Takes the room of a slot that is to be written, if it has none yet. False was logged.
  bool make_room(std::uint32_t index);

  // Call map_slots() after reading. False: errno says why.
  void pass(Handover& io) { io(lock_, slots_fd_, board_fd_); }
  bool map_slots();

  [[nodiscard]] int lock_fd() const { return lock_.get(); }
  [[nodiscard]] int slot_fd() const { return slots_fd_.get(); }
  [[nodiscard]] int board_fd() const { return board_fd_.get(); }
  [[nodiscard]] ipc::Slot& slot(std::uint32_t index);
  [[nodiscard]] ipc::SlotFileHeader& header();

 private:
  UniqueFd lock_, slots_fd_, board_fd_;
  char* slots_ = nullptr;
};

}  // namespace allot::supervisor
