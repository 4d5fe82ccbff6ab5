// SPDX-License-Identifier: Apache-2.0
#include "queue/views/full_task.h"

#include "base/error.h"
#include "queue/model/catalog.h"
#include "queue/model/compression.h"
#include "queue/verbs/block.h"

namespace allot::queue {
namespace {

// Decompresses the payload; a damaged one remains as stored.
void decompress_payload(FullTask& full) {
  try {
    full.task->payload = decompress(full.task->flags, full.task->payload);
  } catch (const Error& error) {
    full.damage = error.what();
  }
}

// Careful mode records an attempt as lost before it runs (S7): while its worker has the lease, the
// attempt is running.
void mark_running(const TaskView& task, std::vector<AttemptView>& attempts) {
  if (attempts.empty() || attempts.back().retries_since > 0) return;
  AttemptView& last = attempts.back();
  if (task.holder != last.worker) return;
  if (last.cause != kUnreported.cause) return;
  last.cause = "running";
  last.error = "or lost, when its worker is no longer there";
}

}  // namespace

std::optional<FullTask> full_task(db::Connection& db, const TaskId& id) {
  FullTask full;
  full.task = show(db, id);
  if (full.task) {
    decompress_payload(full);
  } else {
    full.done = show_done(db, id);
    if (!full.done) return std::nullopt;
  }
  full.queue = queue_name(db, id.partition.queue_id);
  full.attempts = list_all_attempts(db, id);
  if (full.task) {
    mark_running(*full.task, full.attempts);
    full.cancel = find_cancel(db, id);
  }
  full.unique = show_unique(db, id);
  return full;
}

}  // namespace allot::queue
