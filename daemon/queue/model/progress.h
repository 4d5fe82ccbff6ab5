// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace allot::queue {

// Progress of a task as its handler reports it, for people.
struct Progress {
  static constexpr std::size_t kMostWord = 47;  // bytes; fits the slot and the column
  std::optional<std::uint32_t> percent{};       // nullopt: not reported
  std::string word{};

  bool operator==(const Progress&) const = default;
};

}  // namespace allot::queue
