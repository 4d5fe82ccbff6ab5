// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "gateway/api/route.h"
#include "metrics/page.h"

namespace allot::gateway::api {

// How many requests of each route were answered since the gateway began, with which class of
// status, and how long that took. Any thread may call every function.
class RequestCounts {
 public:
  RequestCounts() : routes_(routes().size() + 1) {}

  // `route`: nullptr, where it was refused before one was found.
  void count(const Route* route, unsigned status);
  void count(const Route* route, unsigned status, Nanos took);
  void add_to(metrics::Page& page) const;

 private:
  // Upper bounds in seconds; above the last there is one more bucket.
  static constexpr std::array<double, 11> kBounds{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                  0.1,   0.5,    1,     5,    30};
  using Counter = std::atomic<std::uint64_t>;
  struct OfRoute {
    std::array<Counter, 5> answers{};  // 2xx at index 1, and so on
    std::array<Counter, kBounds.size() + 1> buckets{};
    Counter took_ns{0};
  };
  [[nodiscard]] OfRoute& of(const Route* route);

  std::vector<OfRoute> routes_;  // as in routes(); the last one: none was found
};

}  // namespace allot::gateway::api
