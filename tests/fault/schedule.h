// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fault/proxy.h"

namespace allot::fault {

enum class Kind {
  kKillWorker,      // SIGKILL
  kStopWorker,      // SIGSTOP, and SIGCONT after `length`
  kKillDaemon,      // SIGKILL of allotd, which is started again
  kKillDatabase,    // SIGKILL of mariadbd, which is started again
  kKillConnection,  // KILL CONNECTION of one that a worker has
  kWorkerTrouble,   // `trouble` between workers and database
  kSubmitTrouble,   // `trouble` between submitters and database
};

struct Event {
  std::chrono::milliseconds at{0};  // since the beginning
  Kind kind = Kind::kKillWorker;
  Trouble trouble = Trouble::kDelay;
  bool all = false;        // connections: all of them
  std::uint64_t pick = 0;  // chooses among what is there by then
  std::chrono::milliseconds length{0};
  bool operator==(const Event&) const = default;
};

std::string name_of(const Event& event);

// How often each kind comes, relative to the others.
struct Weights {
  unsigned kill_worker = 60;
  unsigned stop_worker = 4;
  unsigned kill_daemon = 1;
  unsigned kill_database = 2;
  unsigned kill_connection = 8;
  unsigned worker_trouble = 15;
  unsigned submit_trouble = 10;
};

// Pure: the same seed gives the same schedule, on every machine. What an event hits depends on what
// is there when its time has come.
std::vector<Event> make_schedule(std::uint64_t seed, std::chrono::milliseconds length,
                                 std::chrono::milliseconds mean_pause, const Weights& weights = {});

}  // namespace allot::fault
