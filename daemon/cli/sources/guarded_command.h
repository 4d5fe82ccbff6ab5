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
// Between this process and the command is a guardian, a process that knows nothing but that time:
// it is the command's parent, and ends its whole group when the time has come, when this process is
// gone, and when the command itself has ended. If this process is killed, the guardian reads the
// end of their pipe, and is woken for that if somebody had stopped it. If this process is stopped,
// it puts nothing off. If the guardian is killed, the command dies with it by its parent's death
// signal, and this process ends the rest of the group. What a stopped guardian does not do, this
// process does (end_group()).
//
// The constructor forks, so it comes before any thread and any connection. Then start() once;
// put_off() and end_now() may be called by any thread.
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
  // Ends the group and the guardian without the guardian's help.
  void end_group();

 private:
  struct Order;
  struct Report;
  void send(const Order& order);
  static int guard(const std::vector<std::string>& words, int orders, int reports);
  class Guardian;

  UniqueFd orders_;
  UniqueFd reports_;
  pid_t guardian_ = -1;
  pid_t group_ = -1;  // of the command; -1: it has not started
  std::optional<int> exit_code_;
};

}  // namespace allot::cli
