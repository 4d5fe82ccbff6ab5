// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "db/connection.h"
#include "thread/mutex.h"

namespace allot::operations {

// Cache of the last snapshot of all slots of all hosts, read once for all viewers of this gateway.
// A read also tells the stewards that a viewer is present (decision 0030): at most one statement in
// 2 s. Threads of the pool call it.
class Hosts {
 public:
  struct Seen;  // defined in hosts.cc
  // At most one second old.
  [[nodiscard]] std::shared_ptr<const Seen> read(db::Connection& db) ALLOT_EXCLUDES(mutex_);

 private:
  void tell(db::Connection& db) ALLOT_REQUIRES(mutex_);

  Mutex mutex_;
  std::shared_ptr<const Seen> seen_ ALLOT_GUARDED_BY(mutex_);
  Nanos tell_ns_ ALLOT_GUARDED_BY(mutex_) = 0;  // earliest time of the next statement
};

}  // namespace allot::operations
