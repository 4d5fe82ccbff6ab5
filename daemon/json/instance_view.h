// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ipc/slot.h"

namespace allot::as_json {

// A copy of the slot table of this host's daemon, taken at one moment. It costs the database
// nothing.
struct WorkerView {
  std::uint32_t slot = 0;
  std::uint32_t pid = 0;
  std::string pool;
  std::string state;
  bool leases = false;
  bool database_away = false;
  std::uint64_t config_mark = 0;  // config::Files::mark() of what it runs
  std::string queue;
  std::uint32_t queue_id = 0;
  std::uint32_t partition = 0;
  struct Running {
    std::string task;
    std::string type;
    std::uint32_t attempt = 0;
    std::uint64_t running_ms = 0;
    bool detached = false;  // it left its partition
  };
  std::vector<Running> running;
  std::uint64_t done = 0, retried = 0, dead = 0, deferred = 0, takeovers = 0, leases_lost = 0,
                deadlocks = 0, lock_waits = 0;
};

struct InstanceView {
  bool running = false;
  std::string trouble;  // why the slots could not be read; empty: no trouble
  std::string runtime_dir;
  std::uint32_t supervisor_pid = 0;
  std::vector<WorkerView> workers;
  std::vector<WorkerView> stewards;  // one; none while it starts again, two during a reload
  std::uint32_t unsettled = 0;       // dead workers whose tasks and leases nobody has settled yet
};

// Reads `runtime_dir`/slots. An instance that does not run is no error; slots that a dead one left
// behind are not shown.
InstanceView read_instance(const std::string& runtime_dir);

[[nodiscard]] nlohmann::json worker(const WorkerView& worker);
// What is worth saying of a process that runs no tasks.
[[nodiscard]] nlohmann::json stewards(const InstanceView& view);
}  // namespace allot::as_json
