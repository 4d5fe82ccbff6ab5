// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "queue/model/task.h"

namespace allot::worker {

// Which tasks of a lease have started and not been collected, for a fetch that meets them again.
// Only the block loop uses it.
class InHand {
 public:
  void started(const queue::TaskKey& key) { started_.push_back(key); }
  void collected(const queue::TaskKey& key) { collected_.push_back(key); }
  // Nothing is left of the block.
  void clear() {
    started_.clear();
    collected_.clear();
  }

  // Takes out of what was fetched meanwhile what is in hand, and what would make that more than
  // `most` tasks.
  void keep_others(std::vector<queue::Task>& fetched, std::size_t most) {
    settle();
    std::erase_if(fetched, [this](const queue::Task& task) {
      return std::binary_search(started_.begin(), started_.end(), task.key);
    });
    const std::size_t room = most - std::min(most, started_.size());
    if (fetched.size() > room)
      fetched.erase(fetched.begin() + static_cast<std::ptrdiff_t>(room), fetched.end());
  }

 private:
  // A task that came back may have started twice and been collected once.
  void settle() {
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
