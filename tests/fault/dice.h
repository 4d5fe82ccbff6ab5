// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace allot::fault {

// Uses remainders: the distributions of the standard library differ between implementations.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  // 0 if there is nothing below `n`.
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : engine_() % n; }
  std::chrono::milliseconds between(std::uint64_t least, std::uint64_t most) {
    return std::chrono::milliseconds(least + below(most - least + 1));
  }
  bool one_of(std::uint64_t n) { return below(n) == 0; }
  std::uint64_t any() { return engine_(); }
  template <typename List>
  auto of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace allot::fault
