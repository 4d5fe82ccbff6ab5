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

// A command that ends before a deadline which can be extended, whatever happens to this process
// (S39).
//
// Between this process and the command are two guardians, each the parent of the next. The outer
// guardian knows only the deadline: it ends the command at the deadline, when this process is gone,
// and when the command itself has ended. The inner guardian is the parent of the command, and ends
// it when the outer one is gone. Ending the command means killing its group and all its other
// processes: each of the three is a subreaper, so that processes which left the group become its
// children once their parents are dead. As long as one of the three runs, no process of the command
// outlives the others. When the last one dies, its parent's death signal kills the command itself,
// but not the command's children.
//
// A stopped guardian is woken if its parent is killed. If this process is stopped, it extends
// nothing. If a guardian is stopped, this process does its work (end_group()). The guardians have
// their own process name, so that signals sent to all processes with the name of this program do
// not reach them.
//
// The constructor forks, so call it before any thread or connection exists. Then call start() once.
// put_off() and end_now() may be called by any thread, the others by the thread that constructed
// the object.
class GuardedCommand {
 public:
  // Deadline of a command, by CLOCK_BOOTTIME: TERM first, KILL later.
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
  // Sends KILL to the group, through the guardian.
  void end_now();
  // Forwards a signal to the group.
  void pass_on(int signal);

  // Readable when read_reports() has input.
  [[nodiscard]] int fd() const { return reports_.get(); }
  void read_reports();
  // The exit code as a shell reports it, once no process of the group is left; 128 + N after signal
  // N.
  [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }
  // Ends the command and the guardians without the guardians' help.
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
