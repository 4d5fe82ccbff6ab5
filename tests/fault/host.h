// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "e2e/daemon.h"

namespace allot::fault {

// A process that cannot be mistaken for a later one with its number.
struct Target {
  pid_t pid = 0;
  bool worker = false;  // runs `allot-worker --run`
  UniqueFd handle{};    // a pidfd

  bool signal(int number) const;
  // True: it is over.
  [[nodiscard]] bool over(std::chrono::milliseconds deadline) const;
};
using Targets = std::vector<Target>;

// 0: there is no such process.
pid_t parent_of(pid_t pid);
// The process itself; for a settler its allotd, because the host lacks what a settler cannot do.
pid_t accountable_for(pid_t pid);
// "VmRSS" of a process in bytes; 0: it is over.
std::uint64_t resident_bytes(pid_t pid);

// The counterpart of one machine: an allotd and its workers, which may stop, die and come back
// together.
class Host {
 public:
  explicit Host(const e2e::DaemonOptions& options) : daemon_(options), up_(options.start) {}

  [[nodiscard]] e2e::Daemon& daemon() { return daemon_; }
  // False after kill() or stop_all(), until start() or resume().
  [[nodiscard]] bool up() const { return up_; }
  [[nodiscard]] pid_t pid() { return daemon_.process().pid(); }

  [[nodiscard]] Targets workers();
  // True once when allotd ended without having been asked to.
  [[nodiscard]] bool died();
  // How it ended then, and what it said last: the next start has other words.
  [[nodiscard]] const std::string& last_words() const { return last_words_; }
  // Kills only allotd; start() has to follow. Its workers end by themselves.
  void kill_daemon();
  // Kills everything at once; returns the killed processes except allotd.
  Targets kill();
  Targets stop_all();
  void resume(const Targets& stopped);
  void start();

 private:
  // allotd stands still first, so that nobody heals and nobody is started meanwhile.
  Targets stand_still();

  e2e::Daemon daemon_;
  bool up_;
  std::string last_words_;
};

}  // namespace allot::fault
