// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace allot::cli {

// A command that ends before a time which may be put off, whatever becomes of this process (S39).
//
// Between this process and the command are two guardians, each the parent of the next. The outer
// one knows nothing but that time: it ends the command when the time has come, when this process is
// gone, and when the command itself has ended. The inner one is the parent of the command, and ends
// it when the outer one is gone. To end the command is to kill its group and all its other
// processes: each of the three is a subreaper, so that those which left the group come to it once
// their parents are dead. As long as one of the three lives, nothing of the command outlives the
// others; with the last one dies the command itself, by its parent's death signal, and not its
// children.
//
// A guardian whose parent is killed is woken if it had been stopped. If this process is stopped, it
// puts nothing off. What a stopped guardian does not do, this process does (end_group()). The
// guardians have a name of their own, so that what is sent to all processes with the name of this
// program does not reach them.
//
// The constructor forks, so it comes before any thread and any connection. Then start() once;
// put_off() and end_now() may be called by any thread, the others by the one that made it.
class GuardedCommand {
 public:
  // Until when a command may run, by CLOCK_BOOTTIME: TERM first, KILL then.
  struct Until {
    Nanos term_ns = 0;
    Nanos kill_ns = 0;
  };

  explicit GuardedCommand(const std::vector<std::string>& words);
  GuardedCommand(const GuardedCommand&) = delete;
  GuardedCommand& operator=(const GuardedCommand&) = delete;
  ~GuardedCommand();

  void start(std::uint64_t token, const Until& until);
  void put_off(const Until& until);
  // KILL to the group, by the guardian.
  void end_now();
  // Passes a signal on to the group.
  void pass_on(int signal);

  // Readable when there is something for read_reports().
  [[nodiscard]] int fd() const { return reports_.get(); }
  void read_reports();
  // The exit code as a shell has it, once nothing of the group is left; 128 + N after signal N.
  [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }
  // Ends the command and the guardians without their help.
  void end_group();

 private:
  struct Order;
  struct Report;
  void send(const Order& order);
  class OuterGuardian;
  class InnerGuardian;

  UniqueFd orders_;
  UniqueFd reports_;
  pid_t guardian_ = -1;
  pid_t group_ = -1;  // of the command; -1: it has not started
  std::optional<int> exit_code_;
};

}  // namespace allot::cli
