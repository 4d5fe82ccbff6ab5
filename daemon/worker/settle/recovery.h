// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "ipc/board.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/model/catalog.h"
#include "queue/verbs/detached_store.h"
#include "worker/lease/holder_watch.h"
#include "worker/run/decide.h"

namespace allot::worker {

// An attempt that its worker did not end.
struct Crashed {
  queue::TaskId id;
  std::string queue_name;
  std::string type;
  std::uint32_t attempt = 0;  // its number
  queue::Headers headers{};
};

// Facts for decide() from the configuration, and whether its end was requested. A queue that is not
// in the configuration has the defaults.
Facts facts_of_crash(db::Connection& db, const config::Settings& settings, const Crashed& crashed);
// S10: adds whether an earlier attempt ended as a crash, if that makes a difference.
void find_earlier_crash(db::Connection& db, const queue::TaskId& id, Facts& facts);

// S11: charges the tasks that an earlier run of this instance had detached.
void reclaim_detached(db::Connection& db, const config::Settings& settings,
                      const queue::DetachedStore& store);

// S20: a worker recovers detached tasks of its queues whose holder stalled (S4). Mostly the steward
// of its host finds them (S77).
class Recovery {
 public:
  // Counts in `slot`.
  Recovery(process::Session& session, const queue::DetachedStore& store,
           const config::Settings& settings, std::vector<queue::QueueInfo> queues,
           process::SlotWriter& slot, ipc::Board& board);

  // Call it between two blocks. Costs one clock read, unless it is time.
  void run_due();

 private:
  void recover(const queue::DetachedObservation& observed, bool stale);

  process::Session& session_;
  const queue::DetachedStore& store_;
  const config::Settings& settings_;
  const std::vector<queue::QueueInfo> queues_;
  std::vector<std::uint32_t> queue_ids_;
  process::SlotWriter& slot_;
  ipc::Board& board_;
  HolderWatch<queue::TaskId, queue::DetachedObservation> watched_;
};

}  // namespace allot::worker
