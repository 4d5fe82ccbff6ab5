// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

// Use of the kernel's controllers in the workers' cgroups: limits of a pool (D9), and whether the
// kernel killed a worker because memory ran out (docs/decisions/0004). A cgroup is a folder here,
// so a test may make one up.
namespace allot::process {

// False with errno.
bool write_cgroup(const std::string& path, std::string_view text);

// Parent cgroup of the workers' cgroups, for the one that allotd runs in: this one, or the one
// above it if allotd is in the leaf that share_out() made, or systemd has put a command of the
// service next to it.
[[nodiscard]] std::string cgroup_base(const std::string& own);

// The leaf of that cgroup: allotd runs there when controllers are shared out.
[[nodiscard]] std::string cgroup_leaf(const std::string& base);

// Controllers that the limits of these pools need.
[[nodiscard]] std::vector<std::string> needed_controllers(const config::Settings& settings);

// Throws Error(kExitConfig) if a controller was not delegated to the cgroup.
void require_controllers(const std::string& base, const std::vector<std::string>& needed);

// Gives the workers' cgroups the controllers that their limits need, and the memory controller in
// any case if it exists. Call require_controllers() before. A cgroup that shares out controllers
// may not have processes of its own, so `daemon` and its descendants move into the leaf. Throws
// Error(kExitConfig) if a limit could not be set.
void share_out(const std::string& base, const config::Settings& settings, pid_t daemon);

// Sets the limits of the pool in a worker's cgroup, or removes its previous limits. Throws
// Error(kExitConfig).
void limit_cgroup(const std::string& folder, const config::Pool& pool);

// Description of a kill by the kernel, of the worker of this cgroup and everything in there,
// because memory ran out; empty: it did not happen, or is unknown.
[[nodiscard]] std::string out_of_memory(const std::string& folder);

}  // namespace allot::process
