// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "ipc/preflight.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {

// One check in a throwaway child (S26): whatever a configuration, a plugin or a database can do
// wrong happens there.
class Preflight {
 public:
  // kUpgrade: would the allotd on disk go on from `state_fd`? It answers with what it read there.
  enum class Step { kConfig, kDatabase, kDatabaseAndReclaim, kUpgrade };

  // Starts a step with the program that is on disk now. False: errno says why.
  bool start(Step step, const Options& options, int state_fd);
  [[nodiscard]] bool running() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Step step() const { return step_; }

  // Kills a check that takes too long.
  void enforce_deadline(Nanos now);
  // Kills it, if there is one; it is reaped as any other.
  void end();
  // The child is gone. Its exit code, or kExitUnavailable when it was killed for its deadline.
  int finish(int wait_status);
  // The answer of a config or upgrade step that exited 0. False when the child did not write a
  // whole one.
  bool read_answer(ipc::PreflightAnswer& answer);
  // The program that was checked, for starting workers or as our successor (S25).
  UniqueFd take_program() { return std::move(program_); }

 private:
  pid_t pid_ = -1;
  Step step_ = Step::kConfig;
  Nanos deadline_ = 0;
  bool ended_ = false;
  UniqueFd program_;
  UniqueFd answer_;
};

}  // namespace allot::supervisor
