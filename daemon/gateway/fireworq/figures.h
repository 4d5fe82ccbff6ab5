// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gateway/fireworq/objects.h"
#include "queue/fireworq/definition.h"
#include "thread/mutex.h"

namespace allot::gateway::fireworq {

// What this host did since the gateway started: pushes are counted here, the rest is what its
// workers count. Any thread may call everything.
class Figures {
 public:
  explicit Figures(std::string runtime_dir);

  void pushed(const std::string& queue) ALLOT_EXCLUDES(mutex_);
  // Once a second.
  void turn() ALLOT_EXCLUDES(mutex_);
  // The counted ones among them.
  [[nodiscard]] QueueStats of(const queue::FireworqQueue& queue) const ALLOT_EXCLUDES(mutex_);

  // Which partitions of a queue the workers of this host have, and how many jobs run in all.
  struct Here {
    std::vector<std::uint32_t> partitions{};
    std::uint64_t running = 0;
  };
  [[nodiscard]] Here here(const queue::FireworqQueue& queue) const;

 private:
  // Of a queue's own name.
  struct Counted {
    std::uint64_t pops = 0, successes = 0, failures = 0, permanent_failures = 0, ran_ms = 0;
  };
  using Counts = std::map<std::string, Counted>;
  [[nodiscard]] Counts read() const;

  const std::string runtime_dir_;
  mutable Mutex mutex_;
  Counts first_ ALLOT_GUARDED_BY(mutex_);
  Counts last_ ALLOT_GUARDED_BY(mutex_);    // a second ago
  Counts before_ ALLOT_GUARDED_BY(mutex_);  // a second before that
  std::map<std::string, std::uint64_t> pushes_ ALLOT_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> pushes_last_ ALLOT_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> pushes_before_ ALLOT_GUARDED_BY(mutex_);
};

// What a Go process would say of itself, as far as it means something here.
[[nodiscard]] std::string process_stats(bool indented);

}  // namespace allot::gateway::fireworq
