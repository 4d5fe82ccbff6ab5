// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "thread/mutex.h"

namespace allot::gateway::http {

// Runs functions posted by other threads in the server thread. Outlives the server, for threads
// that answer late; late posts are dropped. Any thread may call post().
class Mailbox {
 public:
  using Act = std::function<void()>;

  explicit Mailbox(std::function<void(Act)> deliver) : deliver_(std::move(deliver)) {}

  void post(Act act) ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    if (deliver_) deliver_(std::move(act));
  }

  void close() ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    deliver_ = nullptr;
  }

 private:
  Mutex mutex_;
  std::function<void(Act)> deliver_ ALLOT_GUARDED_BY(mutex_);
};

}  // namespace allot::gateway::http
