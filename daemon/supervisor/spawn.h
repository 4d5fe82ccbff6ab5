// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <initializer_list>

#include "base/unique_fd.h"

namespace allot::supervisor {

// The supervisor's own descriptors live above this, so that placing a child's never hits one of
// them.
inline constexpr int kFirstOwnFd = 16;

// Moves a descriptor there, close-on-exec; -1 stays -1.
int high_fd(int fd);

inline constexpr int kMaxArguments = 16;

// What this daemon was started with; config and embedded are passed on to every child. Absolute
// paths, nullptr = not given.
struct Options {
  const char* program = nullptr;  // where a successor is looked for
  const char* config = nullptr;
  const char* embedded = nullptr;
  // Not from the start but from what the predecessor left in kSlotFd: "run", or "check" whether
  // that could be done.
  const char* resume = nullptr;
};

// A child to be made: program, arguments, and the descriptors of ipc/slot.h that it gets (-1:
// none).
struct SpawnRequest {
  int program_fd = -1, slot_fd = -1, death_fd = -1, notify_fd = -1, board_fd = -1, answer_fd = -1;
  const char* arguments[kMaxArguments] = {};
  int lock_fd = -1;
  bool dies_with_parent =
      false;  // TERM when the supervisor is gone; the death pipe is the real sign

  void add(std::initializer_list<const char*> words);
  void add_options(const Options& options);  // --config and --embedded

 private:
  int count_ = 0;
};

// Forks and execs, in a process group of its own, with default signals (S21). -1: errno says why.
pid_t spawn(const SpawnRequest& request);

// Opens a program by its path or, of a mere name, the one that stands beside this one, in
// ../libexec/allot, or in $ALLOT_LIBEXEC. A failure was logged.
UniqueFd open_program(const char* name);

}  // namespace allot::supervisor
