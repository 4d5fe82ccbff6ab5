// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/turns.h"

#include <utility>

namespace allot::gateway::ui {

bool Turns::take(Start start) {
  MutexLock held(mutex_);
  if (free_ == 0) {
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(std::move(start));
    return true;
  }
  --free_;
  held.unlock();
  start(turn());
  return true;
}

Turns::Turn Turns::turn() {
  return {nullptr, [turns = shared_from_this()](std::nullptr_t) { turns->pass_on(); }};
}

void Turns::pass_on() {
  MutexLock held(mutex_);
  if (waiting_.empty()) {
    ++free_;
    return;
  }
  const Start next = std::move(waiting_.front());
  waiting_.pop_front();
  held.unlock();
  next(turn());
}

}  // namespace allot::gateway::ui
