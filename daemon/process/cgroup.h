// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

// [daemon] cgroup: each worker has its own cgroup (v2), below the one that the daemon was started
// in, with the limits of its pool (process/cgroup_limits). Processes that a handler starts
// cannot leave it by a session, a process group or another parent, and the kernel ends all of them
// at once, even during a fork (docs/decisions/0004).
namespace allot::process {

// The folder of the cgroup, from the texts of /proc/PID/cgroup and mountinfo; empty: without
// cgroup v2, or without a mount that reaches it.
[[nodiscard]] std::string find_cgroup(std::string_view cgroup, std::string_view mountinfo);

// The cgroup of this process. Throws Error(kExitConfig) if there is none.
[[nodiscard]] std::string own_cgroup();

// Tries in `own` what workers will do: makes a cgroup, enters it, leaves and removes it. Throws
// Error(kExitConfig).
void try_cgroup(const std::string& own);

// Keeps this process, a worker, in the cgroup of its slot, with the limits of its pool, until its
// destruction. The destructor ends everything else in there, and removes the folder. Does nothing
// with cgroup = false, nor in a worker without a supervisor, because its slot number may be another
// worker's.
class WorkerCgroup {
 public:
  // Ends the processes that a former worker of the slot left there. Call it before this worker
  // starts any process or thread. Throws Error(kExitConfig) if it cannot enter.
  WorkerCgroup(const config::Settings& settings, const config::Pool& pool, std::uint32_t slot);
  WorkerCgroup(const WorkerCgroup&) = delete;
  WorkerCgroup& operator=(const WorkerCgroup&) = delete;
  ~WorkerCgroup();

 private:
  const config::Settings& settings_;
  std::string own_;     // original cgroup of the process; empty: it stays there
  std::string folder_;  // present cgroup of the process
};

// The settler's part for a dead worker: ends all processes left in its cgroup. Returns the answer
// of out_of_memory(). It never fails: the rest of settling is more important, and failures are
// logged.
std::string end_cgroup(const config::Settings& settings, std::uint32_t slot) noexcept;

// Removes that cgroup. Call it after settling: until then another settler may have to ask whether
// memory ran out.
void remove_cgroup(const config::Settings& settings, std::uint32_t slot) noexcept;

}  // namespace allot::process
