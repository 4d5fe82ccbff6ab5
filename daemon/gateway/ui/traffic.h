// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gateway/ui/chart.h"
#include "gateway/ui/page.h"

// Throughput of each queue, from the steward's minutes. Pure.
namespace allot::gateway::ui {

inline constexpr int kTrafficMinutes = 60;
inline constexpr int kTrafficStep = 2;
inline constexpr int kRecentMinutes = 10;
inline constexpr std::size_t kTrafficPoints = kTrafficMinutes / kTrafficStep;

struct Traffic {
  // Tasks per minute, oldest first.
  std::vector<double> in = std::vector<double>(kTrafficPoints);
  std::vector<double> out = std::vector<double>(kTrafficPoints);
  bool knows_in = false;
  double recent_in = 0;  // tasks per minute, over the last complete kRecentMinutes
  double recent_out = 0;
  std::uint64_t ended = 0;   // attempts in this time
  std::uint64_t failed = 0;  // failed ones of them
  std::uint64_t dead = 0;    // tasks that died in the hour
  std::optional<std::uint64_t> backlog{};
  bool estimated = false;  // the backlog is an estimate

  // Error rate of the attempts; nullopt: too few attempts.
  [[nodiscard]] std::optional<double> error_rate() const;
  // "empty", "12 min", "grows", "–".
  [[nodiscard]] std::string time_to_empty() const;
  [[nodiscard]] Chart chart() const {
    return {{in.begin(), in.end()}, {out.begin(), out.end()}, {}};
  }
};

// Indexed by queue name. The document is the answer to traffic_request().
[[nodiscard]] std::map<std::string, Traffic> traffic_of(const Document* minutes,
                                                        std::chrono::sys_seconds now);
[[nodiscard]] ApiRequest traffic_request(const std::string& queue = {});

// Workers on live hosts, by the queue of their pool, or by "*".
struct Workforce {
  bool known = false;
  std::uint64_t hosts = 0;
  std::uint64_t silent = 0;
  std::map<std::string, std::uint64_t> workers{};
  [[nodiscard]] std::uint64_t of(const std::string& queue) const;
};
[[nodiscard]] Workforce workforce_of(const Document* instances);

}  // namespace allot::gateway::ui
