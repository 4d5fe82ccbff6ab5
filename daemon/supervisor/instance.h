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
    kBusy,     // workers of a former life are still leaving: try again
    kRefused,  // another allotd runs under this name, or the folder cannot be used; it was logged
  };

  // Makes the folder and tries to lock it. May be called again after kBusy.
  Lock lock(const char* folder);

  // Makes slots and board afresh and maps them; processes of a former life keep the old files.
  // False was logged.
  bool make_files(const char* folder, const char* name);

  // map_slots() follows what was read. False: errno says why.
  void pass(Handover& io) { io(lock_, slots_fd_, board_fd_); }
  bool map_slots();

  [[nodiscard]] int lock_fd() const { return lock_.get(); }
  [[nodiscard]] int slot_fd() const { return slots_fd_.get(); }
  [[nodiscard]] int board_fd() const { return board_fd_.get(); }
  [[nodiscard]] ipc::Slot& slot(std::uint32_t index);

 private:
  UniqueFd lock_;
  UniqueFd slots_fd_;
  UniqueFd board_fd_;
  char* slots_ = nullptr;
};

}  // namespace allot::supervisor
