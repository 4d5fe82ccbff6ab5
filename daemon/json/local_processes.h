// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace allot::as_json {

// Checks whether processes of one instance on this host are alive. Knows nothing of other hosts and
// instances.
class LocalProcesses {
 public:
  LocalProcesses(const std::string& instance, const std::string& runtime_dir);

  // `origin` and `pid` as in queue::Holder. False: the process is alive, or unknown here.
  [[nodiscard]] bool gone(std::uint64_t origin, std::uint32_t pid) const;

 private:
  std::uint64_t origin_ = 0;
};

}  // namespace allot::as_json
