// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace allot::as_json {

// Says of processes of an instance on this host whether they live. Of other hosts, and
// of other instances, it knows nothing.
class Here {
 public:
  Here(const std::string& instance, const std::string& runtime_dir);

  // `origin` and `pid` are those of a queue::Holder. False: it lives, or nobody here knows.
  [[nodiscard]] bool gone(std::uint64_t origin, std::uint32_t pid) const;

 private:
  std::uint64_t origin_ = 0;
};

}  // namespace allot::as_json
