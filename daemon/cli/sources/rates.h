// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "cli/words/instance_text.h"

namespace allot::cli {

// Verdicts per second.
struct Rate {
  double done = 0;
  double retried = 0;
  double dead = 0;
};

// How fast the workers were between two looks at them.
class Rates {
 public:
  // `now` in CLOCK_MONOTONIC.
  void look(const InstanceView& view, Nanos now);

  // nullopt before the second look. The counts of a worker that was missing at the previous look
  // began at 0.
  [[nodiscard]] std::optional<Rate> of(const WorkerView& worker) const;
  // The rate of all workers together.
  [[nodiscard]] std::optional<Rate> of_all() const;

 private:
  struct Counts {
    std::uint64_t done = 0, retried = 0, dead = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // slot, pid

  std::map<Key, Counts> before_;
  std::map<Key, Rate> rates_;
  std::optional<Nanos> looked_;
  bool known_ = false;
};

}  // namespace allot::cli
