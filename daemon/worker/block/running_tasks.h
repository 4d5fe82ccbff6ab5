// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "queue/model/task.h"

namespace allot::worker {

// Tasks of a lease that have started and were not collected, for a fetch that finds them again.
// Only the block loop uses it.
class RunningTasks {
 public:
  void started(const queue::TaskKey& key) { started_.push_back(key); }
  void collected(const queue::TaskKey& key) { collected_.push_back(key); }
  [[nodiscard]] std::size_t size() const { return started_.size() - collected_.size(); }
  // In their order; valid until the next call.
  [[nodiscard]] std::span<const queue::TaskKey> keys() {
    settle();
    return started_;
  }

  // Removes from `fetched` the tasks in hand, and all that would raise their number above `most`: a
  // worker that takes over suspects that many tasks (S7), and the slot has room for them. Returns
  // the number of fetched tasks that are among them.
  std::size_t keep_others(std::vector<queue::Task>& fetched, std::size_t most) {
    settle();
    if (started_.empty()) return 0;
    const std::size_t again = std::erase_if(fetched, [this](const queue::Task& task) {
      return std::binary_search(started_.begin(), started_.end(), task.key);
    });
    const std::size_t room = most - std::min(most, started_.size());
    if (fetched.size() > room)
      fetched.erase(fetched.begin() + static_cast<std::ptrdiff_t>(room), fetched.end());
    return again;
  }

 private:
  // A task that came back may have started twice and been collected once.
  void settle() {
    if (size() == 0) {
      started_.clear();
      collected_.clear();
    }
    if (started_.empty()) return;
    std::vector<queue::TaskKey> left;
    std::sort(started_.begin(), started_.end());
    std::sort(collected_.begin(), collected_.end());
    std::set_difference(started_.begin(), started_.end(), collected_.begin(), collected_.end(),
                        std::back_inserter(left));
    started_ = std::move(left);
    collected_.clear();
  }

  std::vector<queue::TaskKey> started_;
  std::vector<queue::TaskKey> collected_;
};

}  // namespace allot::worker
