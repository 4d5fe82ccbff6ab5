// SPDX-License-Identifier: Apache-2.0
#include "worker/block/suspects.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/mutant.h"
#include "log/log.h"
#include "queue/verbs/block.h"
#include "worker/lease/lease_keeper.h"

namespace allot::worker {

bool Suspects::mark_named() {
  const queue::Lease& lease = block_.lease();
  if (!lease.suspects || mutant::removed("careful_mode")) return true;
  queue::Suspects named = *lease.suspects;
  if (mutant::removed("careful_bound")) named.per_class = UINT32_MAX;
  const auto suspects = parts_.session.call(
      [&](db::Connection& db) { return queue::find_suspects(db, lease.partition, named); });
  const bool marked =
      fenced(parts_.session, parts_.keeper, lease, "mark_suspects",
             [&](db::Connection& db) { return queue::mark_suspects(db, lease, suspects); });
  if (!marked) return false;
  for (queue::Task& task : block_.waiting()) {
    const bool suspect =
        std::any_of(suspects.begin(), suspects.end(),
                    [&](const queue::Suspect& one) { return one.key == task.key; });
    if (suspect) task.flags |= queue::kSuspectFlag;
  }
  log::info("lease.suspects_marked",
            {{"partition", lease.partition.partition_no}, {"tasks", suspects.size()}});
  return true;
}

void Suspects::mark_called() {
  if (called_next_ == 0 || parts_.keeper.lost()) return;
  const bool suspected =
      !block_.grant().may_start(boot_ns()) && !mutant::removed("suspect_uncharged");
  std::vector<queue::Fence> fences;
  for (const queue::Task& task : block_.waiting()) {
    if (fences.size() == called_next_) break;
    if (suspected || task.expires_in) fences.push_back(queue::fence(block_.lease(), task));
  }
  if (fences.empty()) return;
  const bool marked =
      fenced(parts_.session, parts_.keeper, block_.lease(), "mark_called",
             [&](db::Connection& db) { return queue::mark_called(db, fences, suspected); });
  if (marked && suspected) called_next_ = 0;
}

}  // namespace allot::worker
