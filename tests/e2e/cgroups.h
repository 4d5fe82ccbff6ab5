// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <sstream>
#include <string>

#include "support/process.h"

namespace allot::e2e {

// Mount point of cgroup v2; empty: not mounted.
inline std::string cgroup_mount_point() {
  std::istringstream mounts(support::read_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(mounts, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;
    return word;
  }
  return {};
}

// The cgroup of a process, as a folder.
inline std::string cgroup_of(pid_t pid) {
  std::istringstream lines(support::read_file("/proc/" + std::to_string(pid) + "/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("0::", 0) == 0) {
      return cgroup_mount_point() + (line == "0::/" ? "" : line.substr(3));
    }
  }
  return {};
}

}  // namespace allot::e2e
