// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "thread/mutex.h"

namespace allot::gateway::http {

// How other threads reach the server's: what they post is called there. It outlives the server, for
// a thread that answers late; what is posted then is dropped. Any thread may call post().
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
