// SPDX-License-Identifier: Apache-2.0
#include "worker/block/suspects.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/mutant.h"
#include "log/log.h"
#include "queue/verbs/block.h"
#include "worker/lease/fenced.h"

namespace allot::worker {

bool Suspects::mark_named(std::deque<queue::Task>& waiting) {
  if (!lease_.suspects || mutant::removed("careful_mode")) return true;
  queue::Suspects named = *lease_.suspects;
  if (mutant::removed("careful_bound")) named.per_class = UINT32_MAX;
  const auto suspects = parts_.session.call(
      [&](db::Connection& db) { return queue::find_suspects(db, lease_.partition, named); });
  const bool marked =
      fenced(parts_.session, parts_.keeper, lease_, "mark_suspects",
             [&](db::Connection& db) { return queue::mark_suspects(db, lease_, suspects); });
  if (!marked) return false;
  for (queue::Task& task : waiting) {
    const bool suspect =
        std::any_of(suspects.begin(), suspects.end(),
                    [&](const queue::Suspect& one) { return one.key == task.key; });
    if (suspect) task.flags |= queue::kSuspectFlag;
  }
  log::info("lease.suspects_marked",
            {{"partition", lease_.partition.partition_no}, {"tasks", suspects.size()}});
  return true;
}

void Suspects::mark_called(const std::deque<queue::Task>& waiting, const Grant& grant) {
  if (called_next_ == 0 || parts_.keeper.lost()) return;
  const bool suspected = !grant.may_start(boot_ns()) && !mutant::removed("suspect_uncharged");
  std::vector<queue::TaskKey> keys;
  for (const queue::Task& task : waiting) {
    if (keys.size() == called_next_) break;
    if (suspected || task.expires_in) keys.push_back(task.key);
  }
  if (keys.empty()) return;
  const bool marked =
      fenced(parts_.session, parts_.keeper, lease_, "mark_called",
             [&](db::Connection& db) { return queue::mark_called(db, lease_, keys, suspected); });
  if (marked && suspected) called_next_ = 0;
}

}  // namespace allot::worker
