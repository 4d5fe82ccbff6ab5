// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

// What the kernel's controllers do in the workers' cgroups: limits of a pool (D9), and the answer
// to whether the kernel killed a worker for want of memory (docs/decisions/0004). A cgroup is a
// folder here, so a test may make one up.
namespace allot::worker {

// False with errno.
bool write_cgroup(const std::string& path, std::string_view text);

// The cgroup below which those of the workers are made, given the one that allotd runs in: this
// one, or the one above it where allotd stands in the leaf that share_out() made, or systemd has
// put a command of the service beside it.
[[nodiscard]] std::string cgroup_base(const std::string& own);

// The leaf of that cgroup: where controllers are shared out, allotd stands there.
[[nodiscard]] std::string cgroup_leaf(const std::string& base);

// The controllers without which a limit of these pools cannot be set.
[[nodiscard]] std::vector<std::string> needed_controllers(const config::Settings& settings);

// Throws Error(kExitConfig) when a controller was not delegated to the cgroup.
void require_controllers(const std::string& base, const std::vector<std::string>& needed);

// Lets the cgroups of workers have the controllers that their limits need, and that of memory in
// any case if it is there. Call require_controllers() before. A cgroup that shares out controllers
// may have no process of its own, so `daemon` and its descendants move into the leaf. Throws
// Error(kExitConfig) when a limit could not be set.
void share_out(const std::string& base, const config::Settings& settings, pid_t daemon);

// Sets the limits of the pool in a worker's cgroup, or takes back those that it had. Throws
// Error(kExitConfig).
void limit_cgroup(const std::string& folder, const config::Pool& pool);

// Says what the kernel did if it killed the worker of this cgroup, and so everything in there, for
// want of memory; empty: it did not, or it cannot be known.
[[nodiscard]] std::string out_of_memory(const std::string& folder);

}  // namespace allot::worker
