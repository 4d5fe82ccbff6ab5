// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "e2e/daemon.h"

namespace allot::fault {

// Handle of a process that cannot be confused with a later one of the same number.
struct Target {
  pid_t pid = 0;
  bool worker = false;  // runs `allot-worker --run`
  UniqueFd handle{};    // a pidfd

  bool signal(int number) const;
  // True: it has ended.
  [[nodiscard]] bool over(std::chrono::milliseconds deadline) const;
};
using Targets = std::vector<Target>;

// 0: no such process.
pid_t parent_of(pid_t pid);
// The process itself; for a settler its allotd, because the host lacks the work that a settler
// cannot do.
pid_t accountable_for(pid_t pid);
// "VmRSS" of a process in bytes; 0: it has ended.
std::uint64_t resident_bytes(pid_t pid);

// Represents one machine: an allotd and its workers, which may stop, die and come back together.
class Host {
 public:
  explicit Host(const e2e::DaemonOptions& options) : daemon_(options), up_(options.start) {}

  [[nodiscard]] e2e::Daemon& daemon() { return daemon_; }
  // False after kill() or stop_all(), until start() or resume().
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] pid_t pid() { return daemon_.process().pid(); }

  [[nodiscard]] Targets workers();
  // True once if allotd ended without a request.
  [[nodiscard]] bool died();
  // End and last output of that allotd, because the next start overwrites it.
  [[nodiscard]] const std::string& last_words() const { return last_words_; }
  // Kills only allotd; start() must follow. Its workers end by themselves.
  void kill_daemon();
  // Kills everything at once; returns the killed processes except allotd.
  Targets kill();
  Targets stop_all();
  void resume(const Targets& stopped);
  void start();

 private:
  // Stops allotd first, so that it neither heals nor starts anything.
  Targets stand_still();

  e2e::Daemon daemon_;
  bool up_;
  std::string last_words_;
};

}  // namespace allot::fault
