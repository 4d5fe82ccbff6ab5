// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace allot::gateway::http {

// Checks the minimum rate of a body, in successive windows, so that a fast start does not allow a
// slow rest. Only time in which the server waits for the peer counts.
class BodyRate {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Larger bodies must arrive faster: the bytes held must be received again within this time.
  static constexpr std::chrono::seconds kHoldTime{600};

  BodyRate(Duration window, std::size_t bytes_per_second)
      : window_(window), bytes_per_second_(bytes_per_second) {}

  // Time until the end of the window.
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(window_ - time_, Duration(0)));
  }
  // Adds bytes and their waiting time. False: the window ended with too few bytes.
  [[nodiscard]] bool add(Duration waited, std::size_t bytes, std::size_t held) {
    time_ += waited;
    bytes_ += bytes;
    if (time_ < window_) return true;
    const bool enough = bytes_ >= needed(held);
    time_ = {};
    bytes_ = 0;
    return enough;
  }

 private:
  [[nodiscard]] std::size_t needed(std::size_t held) const {
    const auto per_second =
        std::max(bytes_per_second_, held / static_cast<std::size_t>(kHoldTime.count()));
    const std::chrono::duration<double> seconds = window_;
    return static_cast<std::size_t>(static_cast<double>(per_second) * seconds.count());
  }

  Duration window_;
  std::size_t bytes_per_second_;
  Duration time_{};
  std::size_t bytes_ = 0;
};

}  // namespace allot::gateway::http
