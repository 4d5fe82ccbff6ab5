// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/verbs/duty.h"
#include "thread/mutex.h"

namespace allot::gateway::fireworq {

// Which gateway of the cluster says that it is the active one: it leads a duty, whose row it takes
// and renews as a steward does. The others follow within its term. To be active permits nothing
// (S46): it decides what is shown.
class Node {
 public:
  Node();

  // One round: renews the term, or takes it where nobody has one. Every two seconds.
  void round(db::Connection& db) ALLOT_EXCLUDES(mutex_);
  [[nodiscard]] bool is_active() const ALLOT_EXCLUDES(mutex_);
  // Another one may go on at once.
  void leave(db::Connection& db) ALLOT_EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool renew(db::Connection& db) ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool claim(db::Connection& db) ALLOT_REQUIRES(mutex_);

  mutable Mutex mutex_;
  queue::Holder holder_ ALLOT_GUARDED_BY(mutex_);
  Nanos until_ns_ ALLOT_GUARDED_BY(mutex_) = 0;  // of its term
};

// The active gateway, whichever it is.
struct ActiveNode {
  std::string id;    // the number of its connection
  std::string host;  // its address, as the database sees it
};
[[nodiscard]] std::optional<ActiveNode> active_node(db::Connection& db);

}  // namespace allot::gateway::fireworq
