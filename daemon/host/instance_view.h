// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/files.h"
#include "ipc/slot.h"
#include "queue/model/task.h"

namespace allot::host {

// A snapshot of the slot table of this host's daemon, without any database access.
struct WorkerView {
  std::uint32_t slot = 0;
  std::uint32_t pid = 0;
  std::string pool;
  std::string state;
  bool leases = false;
  bool database_unreachable = false;
  std::uint64_t config_mark = 0, config_place = 0;  // config::Files::mark() and place()
  std::string queue;
  std::uint32_t queue_id = 0;
  std::uint32_t partition = 0;
  struct Running {
    std::string task;
    std::string type;
    std::string queue;  // also set after the task left its partition
    std::uint32_t attempt = 0;
    std::uint64_t running_ms = 0;
    bool detached = false;  // left its partition
    queue::Progress progress{};
  };
  std::vector<Running> running;
  std::uint64_t done = 0, retried = 0, dead = 0, deferred = 0, takeovers = 0, leases_lost = 0,
                deadlocks = 0, lock_waits = 0;
};

// A pool whose workers exit before they are ready.
struct FailingPool {
  std::string pool;
  std::uint32_t failures = 0;  // consecutive
  std::string how;             // "exit code 78", "signal 11 (Segmentation fault)"
};

struct InstanceView {
  bool running = false;
  std::string trouble;  // cause of unreadable slots; empty: none
  std::string runtime_dir;
  std::uint32_t supervisor_pid = 0;
  std::vector<WorkerView> workers;
  std::vector<WorkerView> stewards;  // one; none during a restart, two during a reload
  std::vector<FailingPool> failing;
  ipc::ReloadCounts reloads{};
  std::uint32_t unsettled = 0;  // dead workers with unsettled tasks and leases
};

// Reads `runtime_dir`/slots. A stopped instance is not an error; the slots of a dead instance are
// ignored.
InstanceView read_instance(const std::string& runtime_dir);

// Whether all processes of the instance run this configuration.
[[nodiscard]] bool runs_configuration(const InstanceView& view, const config::Files& files);
// Whether any process runs an earlier version of this configuration.
[[nodiscard]] bool runs_former_configuration(const InstanceView& view, const config::Files& files);

// The processes of one instance on this host. Only these workers show their attached tasks, and
// only these processes can be checked for being alive.
class LocalProcesses {
 public:
  // An empty folder: no instance on this host.
  LocalProcesses(const std::string& instance, std::string runtime_dir);

  [[nodiscard]] std::vector<WorkerView> workers() const;
  // `origin` and `pid` as in queue::Holder. False: the process is alive, or unknown here.
  [[nodiscard]] bool gone(std::uint64_t origin, std::uint32_t pid) const;

 private:
  std::string runtime_dir_;
  std::uint64_t origin_ = 0;
};

}  // namespace allot::host
