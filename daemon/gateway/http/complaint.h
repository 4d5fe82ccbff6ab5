// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

namespace allot::gateway::http {

// Rate limit for the log line of a recurring event: once a minute.
class Complaint {
 public:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_due(Clock::time_point now) {
    if (last_ && now - *last_ <= kBetween) return false;
    last_ = now;
    return true;
  }

 private:
  static constexpr std::chrono::minutes kBetween{1};
  std::optional<Clock::time_point> last_{};
};

}  // namespace allot::gateway::http
