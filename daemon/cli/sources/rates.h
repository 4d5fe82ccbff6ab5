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

// Rates of the workers between two samples.
class Rates {
 public:
  // `now` in CLOCK_MONOTONIC.
  void update(const InstanceView& view, Nanos now);

  // nullopt before the second sample. The counts of a worker that was missing in the previous
  // sample began at 0.
  [[nodiscard]] std::optional<Rate> of(const WorkerView& worker) const;
  // Sum over all workers.
  [[nodiscard]] std::optional<Rate> of_all() const;

 private:
  struct Counts {
    std::uint64_t done = 0, retried = 0, dead = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // slot, pid

  std::map<Key, Counts> before_;
  std::map<Key, Rate> rates_;
  std::optional<Nanos> updated_ns_;
  bool known_ = false;
};

}  // namespace allot::cli
