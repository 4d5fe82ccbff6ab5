// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/instance_view.h"

namespace allot::host {

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
