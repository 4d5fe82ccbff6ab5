// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gateway/fireworq/objects.h"
#include "host/instance_view.h"
#include "queue/fireworq/definition.h"
#include "thread/mutex.h"

namespace allot::gateway::fireworq {

// Activity of this host since the start of the gateway: pushes are counted here, all other figures
// come from the workers' meters. Any thread may call every function.
class Figures {
 public:
  explicit Figures(std::string runtime_dir);

  void pushed(const std::string& queue) ALLOT_EXCLUDES(mutex_);
  // Called once a second.
  void turn() ALLOT_EXCLUDES(mutex_);

  // Figures of a queue, by its own name.
  struct Counted {
    std::uint64_t pops = 0, successes = 0, failures = 0, permanent_failures = 0, elapsed_ms = 0;
  };
  using Counts = std::map<std::string, Counted>;
  // One snapshot of this host, for all queues of a request.
  struct Now {
    Counts counts{};
    std::vector<host::WorkerView> workers{};
  };
  [[nodiscard]] Now now() const;
  // The counted part of the statistics.
  [[nodiscard]] QueueStats of(const Now& now, const queue::FireworqQueue& queue) const
      ALLOT_EXCLUDES(mutex_);

 private:
  [[nodiscard]] Counts read() const;

  const std::string runtime_dir_;
  mutable Mutex mutex_;
  Counts first_ ALLOT_GUARDED_BY(mutex_);
  Counts last_ ALLOT_GUARDED_BY(mutex_);    // one second ago
  Counts before_ ALLOT_GUARDED_BY(mutex_);  // two seconds ago
  std::map<std::string, std::uint64_t> pushes_ ALLOT_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> pushes_last_ ALLOT_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> pushes_before_ ALLOT_GUARDED_BY(mutex_);
};

// Partitions of a queue leased by workers of this host, and the number of their running jobs.
struct LocalActivity {
  std::vector<std::uint32_t> partitions{};
  std::uint64_t running = 0;
};
[[nodiscard]] LocalActivity local_activity(const Figures::Now& now,
                                           const queue::FireworqQueue& queue);

// The process statistics of a Go program, as far as they apply here.
[[nodiscard]] std::string process_stats(bool indented);

}  // namespace allot::gateway::fireworq
