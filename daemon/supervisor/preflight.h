// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "ipc/preflight.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {

// Input for new workers until the next good check (S25): their program, and the copy of the
// configuration that the config step leaves in an anonymous file.
struct Checked {
  UniqueFd program, config;
};

// One check in a throwaway child (S26): any harm that a configuration, a plugin or a database can
// do happens there.
class Preflight {
 public:
  // kUpgrade asks whether the allotd on disk can continue from `state_fd`. It answers with the
  // state that it read.
  enum class Step { kConfig, kUpgrade, kDatabase, kDatabaseAndReclaim };

  // Starts a step: the first two with the program that is on disk now, the database steps with the
  // result of the config step. The child holds the lock as well, so that what it reclaims stays
  // free until it ends. False: errno has the reason.
  bool start(Step step, const Options& options, int state_fd, int lock_fd);
  [[nodiscard]] bool running() const { return pid_ > 0; }
  [[nodiscard]] bool is(pid_t pid) const { return pid == pid_; }
  [[nodiscard]] Step step() const { return step_; }

  // Kills a check that takes too long.
  void enforce_deadline(Nanos now);
  // Kills the check, if there is one; the loop reaps it like any other child.
  void end();
  // Call it when the child is gone. Returns its exit code, or kExitUnavailable if its deadline
  // killed it.
  int finish(int wait_status);
  // The answer of a config or upgrade step that exited 0. False if the child did not write all of
  // it.
  bool read_answer(ipc::PreflightAnswer& answer);
  // Result of the last good config step.
  Checked take_checked() { return std::move(checked_); }

 private:
  pid_t pid_ = -1;
  Step step_ = Step::kConfig;
  Nanos deadline_ = 0;
  bool ended_ = false;
  Checked checked_;
  UniqueFd answer_;
};

}  // namespace allot::supervisor
