// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/verbs/duty.h"
#include "thread/mutex.h"

namespace allot::gateway::fireworq {

// Chooses the active gateway of the cluster: it leads a duty, whose row it takes and renews as a
// steward does. Another gateway takes over within its term. The active state grants no rights
// (S46); it only decides what is shown.
class Node {
 public:
  Node();

  // Renews the term, or takes it if it is free. Called every two seconds.
  void round(db::Connection& db) ALLOT_EXCLUDES(mutex_);
  [[nodiscard]] bool is_active() const ALLOT_EXCLUDES(mutex_);
  // Releases the term, so that another gateway can take over at once.
  void leave(db::Connection& db) ALLOT_EXCLUDES(mutex_);

 private:
  [[nodiscard]] bool renew(db::Connection& db) ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool take_term(db::Connection& db) ALLOT_REQUIRES(mutex_);

  mutable Mutex mutex_;
  queue::Holder holder_ ALLOT_GUARDED_BY(mutex_);
  Nanos until_ns_ ALLOT_GUARDED_BY(mutex_) = 0;  // end of its term
};

// The active gateway of the cluster.
struct ActiveNode {
  std::string id;    // the number of its connection
  std::string host;  // its address, as the database sees it
};
[[nodiscard]] std::optional<ActiveNode> active_node(db::Connection& db);

}  // namespace allot::gateway::fireworq
