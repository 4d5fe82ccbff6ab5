// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"
#include "ipc/board.h"
#include "queue/catalog.h"
#include "queue/detached_store.h"
#include "worker/session.h"
#include "worker/standstill.h"

namespace allot::worker {

// S10: whether an attempt before number `attempt` ended as a crash. The first crash is retried at
// once.
bool crashed_before(db::Connection& db, const queue::TaskId& id, std::uint32_t attempt);

// Decides by the configuration of queue and type whether another attempt follows, and when, or
// which hook the death triggers. A queue that is not in it has the defaults.
struct CrashPolicy {
  std::uint32_t max_attempts = 0;
  std::chrono::microseconds delay{0};  // not used after a first crash
  std::optional<queue::OnDead> on_dead{};
  bool keeps_history = false;  // its queue does
};
CrashPolicy crash_policy(const config::Settings& settings, const std::string& queue_name,
                         const std::string& type, std::uint32_t attempt);

// Ends a detached task whose attempt did not come back: charges it, and puts it back where it was
// or later, or makes it dead (S10); also dead if somebody asked for its end. kLeaseGone: `detached`
// was not its holder any more.
queue::Landed charge_detached(db::Connection& db, const queue::Detached& detached,
                              std::uint32_t attempt, const CrashPolicy& policy,
                              const queue::Verdict& verdict);

// Logs one line for a task that is dead now. `last` is the number of its last attempt.
void log_dead(const std::string& id, std::string_view type, std::uint32_t last,
              const queue::Verdict& verdict);

// S11: charges the tasks that an earlier run of this instance had detached.
void reclaim_detached(db::Connection& db, const config::Settings& settings,
                      const queue::DetachedStore& store);

// S20: every worker looks at the detached tasks of its queues now and then, and recovers those
// whose holder stood still (S4).
class Recovery {
 public:
  Recovery(Session& session, const queue::DetachedStore& store, const config::Settings& settings,
           std::vector<queue::QueueInfo> queues, ipc::Board& board);

  // Call it between two blocks. Costs one look at the clock, unless it is time.
  void look();

 private:
  void recover(const queue::DetachedSighting& sighting, bool stale);

  Session& session_;
  const queue::DetachedStore& store_;
  const config::Settings& settings_;
  const std::vector<queue::QueueInfo> queues_;
  std::vector<std::uint32_t> queue_ids_;
  ipc::Board& board_;
  Standstill<queue::TaskId, queue::DetachedSighting> watched_;
};

}  // namespace allot::worker
