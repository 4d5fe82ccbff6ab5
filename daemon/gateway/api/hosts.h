// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/clock.h"
#include "db/connection.h"
#include "thread/mutex.h"

namespace allot::gateway::api {

// What the slots of all hosts showed last, read once for all viewers of this gateway. A look also
// tells the stewards that somebody looks (decision 0030): at most one statement in 2 s. For the
// threads of the crew.
class Hosts {
 public:
  struct Seen;  // of hosts.cc
  // At most a second old.
  [[nodiscard]] std::shared_ptr<const Seen> look(db::Connection& db) ALLOT_EXCLUDES(mutex_);

 private:
  void tell(db::Connection& db) ALLOT_REQUIRES(mutex_);

  Mutex mutex_;
  std::shared_ptr<const Seen> seen_ ALLOT_GUARDED_BY(mutex_);
  Nanos tell_ns_ ALLOT_GUARDED_BY(mutex_) = 0;  // not before
};

}  // namespace allot::gateway::api
