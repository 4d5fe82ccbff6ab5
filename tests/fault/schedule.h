// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
  kKillDaemon,      // SIGKILL of an allotd, which is started again
  kKillHost,        // SIGKILL of an allotd and all its workers; started again after `length`
  kStopHost,        // SIGSTOP of an allotd and all its workers, and SIGCONT after `length`
  kKillDatabase,    // SIGKILL of the server, which is started again
  kReadOnly,        // the server takes no writes for `length`
  kHoldLease,       // the lock of a lease row is held for `length`
  kHoldTask,        // locks of the first tasks of a partition are held
  kDeadlock,        // a transaction that makes a worker's transaction the victim of a deadlock
  kKillConnection,  // KILL CONNECTION of a worker
  kWorkerTrouble,   // `trouble` between workers and database
  kSubmitTrouble,   // `trouble` between submitters and database
  kChangeSchema,    // adds a column to a table in use, and drops it after `length`
  kFillDisk,        // the server's files are full and cannot grow for `length`
  // Only in a swarm, and only if the cluster supports them.
  kClockStep,    // the database's clock is set ahead or back, and corrected after `length`
  kFillRuntime,  // the file system of the hosts' runtime folders is full for `length`
};
inline constexpr std::size_t kKinds = 17;
inline constexpr std::size_t kCampaignKinds = 15;

const char* name_of(Kind kind);

struct Event {
  std::chrono::milliseconds at{0};  // since the beginning
  Kind kind = Kind::kKillWorker;
  Trouble trouble = Trouble::kDelay;
  bool all = false;        // connections: all of them
  std::uint64_t pick = 0;  // chooses among the candidates at that time
  std::chrono::milliseconds length{0};
  bool operator==(const Event&) const = default;
};

std::string name_of(const Event& event);  // including the trouble, if any

// Relative frequency of each kind, in the order of Kind. kFillDisk needs a slower server that
// sometimes dies of it, so it occurs only on request.
using Weights = std::array<unsigned, kKinds>;
inline constexpr Weights kAllKinds{60, 3, 1, 2, 1, 2, 1, 2, 2, 2, 6, 12, 8, 1, 0, 0, 0};
// Only this kind.
constexpr Weights only(Kind kind) {
  Weights weights{};
  weights[static_cast<std::size_t>(kind)] = 1;
  return weights;
}

// Pure: the same seed gives the same schedule on every machine. The target of an event depends on
// the state at that time.
std::vector<Event> make_schedule(std::uint64_t seed, std::chrono::milliseconds length,
                                 std::chrono::milliseconds mean_pause,
                                 const Weights& weights = kAllKinds);

}  // namespace allot::fault
