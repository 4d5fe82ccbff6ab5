// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace allot::queue {

// How far a task is, as its handler says for people.
struct Progress {
  static constexpr std::size_t kMostWord = 47;  // bytes; the slot and the column have room for it
  std::optional<std::uint32_t> percent{};       // nullopt: its handler says nothing
  std::string word{};

  bool operator==(const Progress&) const = default;
};

}  // namespace allot::queue
