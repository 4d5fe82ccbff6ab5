// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "thread/mutex.h"

namespace allot::gateway::ui {

// Limits how many pages that read for one viewer only are read at a time; the others wait in order.
// Site makes it; any thread may call it. Turns may outlive the Site.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  // Passes the turn on when its last copy is destroyed.
  using Turn = std::shared_ptr<void>;
  using Start = std::function<void(Turn)>;

  Turns(std::size_t at_a_time, std::size_t most_waiting)
      : free_(at_a_time), most_waiting_(most_waiting) {}

  // Calls `start`, now or in the thread that passes a turn on. False: too many are waiting.
  [[nodiscard]] bool take(Start start) ALLOT_EXCLUDES(mutex_);

 private:
  [[nodiscard]] Turn turn();
  void pass_on() ALLOT_EXCLUDES(mutex_);

  Mutex mutex_;
  std::size_t free_ ALLOT_GUARDED_BY(mutex_);
  const std::size_t most_waiting_;
  std::deque<Start> waiting_ ALLOT_GUARDED_BY(mutex_);
};

}  // namespace allot::gateway::ui
