// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/settings.h"

// [daemon] cgroup: a worker's own cgroup (v2), below the one that the daemon was started in. What a
// handler starts cannot leave it by a session, a process group or a parent of its own, and the
// kernel ends all of it at once, also what is just being forked (docs/decisions/0012).
namespace allot::worker {

// The folder of the cgroup whose files /proc/PID/cgroup and mountinfo these are; empty: there is no
// cgroup v2, or it cannot be reached under any of its mounts.
[[nodiscard]] std::string find_cgroup(std::string_view cgroup, std::string_view mountinfo);

// That of this process. Throws Error(kExitConfig) when there is none.
[[nodiscard]] std::string own_cgroup();

// Tries in `own` what workers will do there: makes a cgroup, enters it, leaves and removes it.
// Throws Error(kExitConfig).
void try_cgroup(const std::string& own);

// This process, a worker, in the cgroup of its slot for as long as the object lives. The end of it
// is the end of everything else in there, and of the folder. Does nothing with cgroup = false, nor
// in a worker that no supervisor started: its slot number is somebody else's.
class WorkerCgroup {
 public:
  // Ends what a former worker of the slot left there. Before any other process or thread of this
  // worker. Throws Error(kExitConfig) when it cannot be entered.
  WorkerCgroup(const config::Settings& settings, std::uint32_t slot);
  WorkerCgroup(const WorkerCgroup&) = delete;
  WorkerCgroup& operator=(const WorkerCgroup&) = delete;
  WorkerCgroup(WorkerCgroup&&) = delete;
  WorkerCgroup& operator=(WorkerCgroup&&) = delete;
  ~WorkerCgroup();

 private:
  const config::Settings& settings_;
  std::string own_;     // where it came from; empty: it stays there
  std::string folder_;  // where it is
};

// What the settler does for a worker that died: ends all that is left in its cgroup. Never fails:
// the rest of settling is more important, and says in the log what it could not do.
void end_cgroup(const config::Settings& settings, std::uint32_t slot) noexcept;

}  // namespace allot::worker
