// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <initializer_list>

#include "base/unique_fd.h"

namespace allot::supervisor {

// The supervisor's own descriptors are above this number, so that they never collide with a
// child's.
inline constexpr int kFirstOwnFd = 16;

// Moves a descriptor there, close-on-exec; -1 stays -1.
int high_fd(int fd);

inline constexpr int kMaxArguments = 16;

// The daemon's command line; every child gets config and embedded. Paths are absolute, nullptr =
// not given.
struct Options {
  const char* program = nullptr;  // path of a successor
  const char* config = nullptr;
  const char* embedded = nullptr;
  // Starts from the predecessor's state in kSlotFd: "run", or "check" whether that would work.
  const char* resume = nullptr;
};

// A child to start: program, arguments, and its descriptors of ipc/slot.h (-1: none).
struct SpawnRequest {
  int program_fd = -1, slot_fd = -1, death_fd = -1, notify_fd = -1, board_fd = -1, answer_fd = -1,
      config_fd = -1, lock_fd = -1;
  const char* arguments[kMaxArguments] = {};
  // TERM when the supervisor is gone; the death pipe is the reliable sign.
  bool dies_with_parent = false;

  void add(std::initializer_list<const char*> words);
  void add_options(const Options& options);  // --config and --embedded

 private:
  int count_ = 0;
};

// Forks and execs, in a new process group, with default signals (S21) and none blocked. Exception:
// a worker, which has a notify_fd, keeps the present mask until it has handlers. -1: errno has the
// reason.
pid_t spawn(const SpawnRequest& request);

// Opens a program by its path or, for a plain name, in $ALLOT_LIBEXEC if set, else next to this
// program or in ../libexec/allot. A failure was logged.
UniqueFd open_program(const char* name);

}  // namespace allot::supervisor
