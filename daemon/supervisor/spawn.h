// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <initializer_list>

#include "base/unique_fd.h"

namespace allot::supervisor {

// The supervisor's own descriptors are above this number, so that a child's never collide with
// them.
inline constexpr int kFirstOwnFd = 16;

// Moves a descriptor there, close-on-exec; -1 stays -1.
int high_fd(int fd);

inline constexpr int kMaxArguments = 16;

// The daemon's command line; every child gets config and embedded. Paths are absolute, nullptr =
// not given.
struct Options {
  const char* program = nullptr;  // the path of a successor
  const char* config = nullptr;
  const char* embedded = nullptr;
  // Starts from the state that the predecessor left in kSlotFd: "run", or "check" whether that
  // would work.
  const char* resume = nullptr;
};

// A child to start: program, arguments, and the descriptors of ipc/slot.h that it gets (-1: none).
struct SpawnRequest {
  int program_fd = -1, slot_fd = -1, death_fd = -1, notify_fd = -1, board_fd = -1, answer_fd = -1,
      config_fd = -1, lock_fd = -1;
  const char* arguments[kMaxArguments] = {};
  // TERM when the supervisor is gone; the death pipe is the real sign.
  bool dies_with_parent = false;

  void add(std::initializer_list<const char*> words);
  void add_options(const Options& options);  // --config and --embedded

 private:
  int count_ = 0;
};

// Forks and execs, in a new process group, with default signals (S21). None is blocked, but a
// worker, which has a notify_fd, keeps blocked what is blocked here until it has handlers. -1:
// errno says why.
pid_t spawn(const SpawnRequest& request);

// Opens a program by its path or, for a mere name, the one beside this program, in
// ../libexec/allot, or in $ALLOT_LIBEXEC. It has logged a failure.
UniqueFd open_program(const char* name);

}  // namespace allot::supervisor
