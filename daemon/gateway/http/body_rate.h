// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace allot::gateway::http {

// Whether a body comes fast enough: measured over one window after the other, so that what came
// fast at first buys no time for later. Only time in which the server waits for the peer counts.
class BodyRate {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Whoever holds much has to send faster: what is held has to come again within this time.
  static constexpr std::chrono::seconds kHoldTime{600};

  BodyRate(Duration window, std::size_t bytes_per_second)
      : window_(window), bytes_per_second_(bytes_per_second) {}

  // Until the end of the window.
  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(window_ - time_, Duration(0)));
  }
  // So many bytes came after so long. False: the window is over, and too little came in it.
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
