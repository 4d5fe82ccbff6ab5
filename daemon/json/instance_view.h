// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "config/files.h"
#include "ipc/slot.h"
#include "queue/model/progress.h"

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
  std::uint64_t config_mark = 0, config_place = 0;  // config::Files::mark() and place()
  std::string queue;
  std::uint32_t queue_id = 0;
  std::uint32_t partition = 0;
  struct Running {
    std::string task;
    std::string type;
    std::string queue;  // also of one that left its partition
    std::uint32_t attempt = 0;
    std::uint64_t running_ms = 0;
    bool detached = false;  // it left its partition
    queue::Progress progress{};
  };
  std::vector<Running> running;
  std::uint64_t done = 0, retried = 0, dead = 0, deferred = 0, takeovers = 0, leases_lost = 0,
                deadlocks = 0, lock_waits = 0;
};

// A pool whose workers end before they are ready.
struct FailingPool {
  std::string pool;
  std::uint32_t failures = 0;  // in a row
  std::string how;             // "exit code 78", "signal 11 (Segmentation fault)"
};

struct InstanceView {
  bool running = false;
  std::string trouble;  // why the slots could not be read; empty: no trouble
  std::string runtime_dir;
  std::uint32_t supervisor_pid = 0;
  std::vector<WorkerView> workers;
  std::vector<WorkerView> stewards;  // one; none while it starts again, two during a reload
  std::vector<FailingPool> failing;
  ipc::ReloadCounts reloads{};
  std::uint32_t unsettled = 0;  // dead workers whose tasks and leases nobody has settled yet
};

// Reads `runtime_dir`/slots. An instance that does not run is no error; slots that a dead one left
// behind are not shown.
InstanceView read_instance(const std::string& runtime_dir);

// Whether all of its processes run this configuration.
[[nodiscard]] bool runs_configuration(const InstanceView& view, const config::Files& files);
// Whether one of them runs an earlier version of this configuration.
[[nodiscard]] bool runs_former_configuration(const InstanceView& view, const config::Files& files);

[[nodiscard]] nlohmann::json worker(const WorkerView& worker);
// What is worth saying of a process that runs no tasks.
[[nodiscard]] nlohmann::json stewards(const InstanceView& view);
}  // namespace allot::as_json
