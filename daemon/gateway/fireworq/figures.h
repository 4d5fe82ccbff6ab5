// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gateway/fireworq/objects.h"
#include "json/instance_view.h"
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

  // Of a queue's own name.
  struct Counted {
    std::uint64_t pops = 0, successes = 0, failures = 0, permanent_failures = 0, elapsed_ms = 0;
  };
  using Counts = std::map<std::string, Counted>;
  // One look at this host, for all queues that are asked for.
  struct Now {
    Counts counts{};
    std::vector<as_json::WorkerView> workers{};
  };
  [[nodiscard]] Now now() const;
  // The counted ones among them.
  [[nodiscard]] QueueStats of(const Now& now, const queue::FireworqQueue& queue) const
      ALLOT_EXCLUDES(mutex_);

 private:
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

// Which partitions of a queue the workers of this host have, and how many jobs run there in all.
struct Here {
  std::vector<std::uint32_t> partitions{};
  std::uint64_t running = 0;
};
[[nodiscard]] Here here(const Figures::Now& now, const queue::FireworqQueue& queue);

// What a Go process would say of itself, as far as it means something here.
[[nodiscard]] std::string process_stats(bool indented);

}  // namespace allot::gateway::fireworq
