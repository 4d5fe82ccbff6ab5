// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.h"
#include "ipc/board.h"
#include "ipc/slot.h"
#include "supervisor/handover.h"

namespace allot::supervisor {

// Files of one running instance: lock, slots, board, in its runtime folder. For the supervisor.
class Instance {
 public:
  enum class Lock {
    kTaken,
    kBusy,     // workers of an earlier run still hold it: try again
    kRefused,  // logged: another allotd runs under this name, or the folder is unusable
  };

  // Tries to lock the folder. May be called again after kBusy.
  Lock lock(const char* folder);

  // Creates new slots and a new board, and maps them; processes of an earlier run keep the old
  // files. Allocates the disk space of the board and of this number of slots. A failure was logged.
  bool make_files(const char* folder, const char* name, std::uint32_t workers);

  // Allocates the disk space of a slot before it is written. A failure was logged.
  bool make_room(std::uint32_t index);

  // Call map_slots() after reading. False: errno has the reason.
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
