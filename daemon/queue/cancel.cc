// SPDX-License-Identifier: Apache-2.0
#include "queue/cancel.h"

#include <utility>

#include "queue/cancel_request.h"
#include "queue/dead_letter.h"

namespace allot::queue {
namespace {

// The task may move to a later key between a look at it and the deletion of its row.
constexpr int kTries = 5;

// Whether nobody had the partition from the first look, before the task was taken out, to the
// second one, after it: every lease and every release has a new epoch.
bool was_free(const Standing& before, const Standing& after) {
  return !before.leased && !after.leased && before.epoch == after.epoch;
}

// Whether the task runs, as far as one look can tell: attended tasks of a leased partition run, ran
// a moment ago, or will soon, and the worker that runs them looks for requests first.
bool runs(const TaskView& task, const std::optional<Standing>& standing) {
  if (task.running) return true;
  return (task.flags & kAttendedFlag) != 0 && standing && standing->leased && standing->due;
}

}  // namespace

Cancelled cancel_task(db::Connection& db, const TaskId& id, std::string_view reason) {
  for (int tries = 0; tries < kTries; ++tries) {
    Cancelled result;
    result.task = show(db, id);
    if (!result.task || result.task->dead) return result;
    std::optional<Standing> before;
    if (!result.task->running) before = standing(db, *result.task);
    if (runs(*result.task, before)) {
      result.asked = ask_cancel(db, id, result.task->run_key, reason);
      result.holder = before ? before->holder : result.task->holder;
      if (result.asked) return result;
      continue;
    }
    if (!cancel(db, id, result.task->run_key, reason)) continue;
    result.done = true;
    const auto after = standing(db, *result.task);
    result.may_run = !before || !after || !was_free(*before, *after);
    if (before) result.holder = before->holder;
    if (after && after->leased) result.holder = after->holder;
    return result;
  }
  throw Error("task " + id.text() + " moves too fast; try again");
}

}  // namespace allot::queue
