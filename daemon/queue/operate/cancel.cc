// SPDX-License-Identifier: Apache-2.0
#include "queue/operate/cancel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "queue/model/audit.h"
#include "queue/model/error_text.h"
#include "queue/model/statements.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/end_statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Whether the partition was free from the first read, before the task was taken out, to the second
// one, after it: every lease and every release has a new epoch.
bool was_free(const Standing& before, const Standing& after) {
  return !before.leased && !after.leased && before.epoch == after.epoch;
}

// Whether the task runs, as far as one read shows: cancel-watched tasks of a leased partition are
// running, were running a moment ago, or will soon, and their worker checks for requests first.
bool runs(const TaskView& task, const std::optional<Standing>& standing) {
  if (task.running) return true;
  return (task.flags & kCancelWatchedFlag) != 0 && standing && standing->leased && standing->due;
}

// Audit entry for the end of a waiting task.
Action waiting_action(std::string_view verb, const TaskId& id, std::uint64_t run_key) {
  db::Statement waiting(sql::k_audit_waiting);
  return {verb, "task", id.text(), set_id(waiting, id).set("run_key", run_key)};
}

// Sends `cancel`, which takes the task out. False: the task is no longer there.
bool take_out(db::Connection& db, std::string_view verb, const TaskId& id, std::uint64_t run_key,
              db::Statement cancel, End end) {
  const TaskKey first_key{id.prio, id.first_key};
  const std::array<db::Statement, 3> statements{
      std::move(cancel), stamp_statement(id.partition, {&first_key, 1}, end),
      clear_cancel_statement(id.partition, {&first_key, 1})};
  const auto results = act(db, waiting_action(verb, id, run_key), statements);
  return results.at(results.size() - 3).affected() == 1;
}

bool cancel_as_done(db::Connection& db, const TaskId& id, std::uint64_t run_key,
                    const AsDone& as_done) {
  db::Statement cancel(sql::k_cancel_as_done);
  set_id(cancel, id)
      .set("run_key", run_key)
      .set("keep", as_done.keep_history)
      .set("host", as_done.host)
      .set("pid", as_done.pid);
  return take_out(db, "cancel_as_done", id, run_key, std::move(cancel), End::kFinished);
}

// True: this request or an earlier one is stored. `run_key` is where the task waits if it is not
// detached. False: the task is neither detached nor cancel-watched in a leased partition.
bool request_cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key,
                    std::string_view reason, bool as_done) {
  db::Statement request(sql::k_request_cancel);
  set_id(request, id)
      .set("run_key", run_key)
      .set("reason", error_text(reason))
      .set("as_done", as_done)
      .set("cancel_watched_flag", kCancelWatchedFlag);
  db::Statement audited(sql::k_audit_request);
  set_id(audited, id).set("as_done", as_done);
  const auto results = act(db,
                           {as_done ? "cancel_as_done" : "cancel", "task", id.text(), audited,
                            "it is running; its worker was asked to end it"},
                           {&request, 1}, Entry::kAfter);
  return std::any_of(results.begin(), results.end(),
                     [](const db::StatementResult& one) { return one.affected() > 0; });
}

// Whether an earlier request demands another kind of end.
bool requested_otherwise(db::Connection& db, const TaskId& id, bool as_done) {
  const auto request = find_cancel(db, id);
  return request && request->as_done != as_done;
}

}  // namespace

bool cancel(db::Connection& db, const TaskId& id, std::uint64_t run_key, std::string_view reason) {
  db::Statement cancel(sql::k_cancel);
  set_id(cancel, id)
      .set("run_key", run_key)
      .set("cause", kCancelled)
      .set("error", error_text(reason));
  return take_out(db, "cancel", id, run_key, std::move(cancel), End::kDead);
}

AsDone as_done_here(bool keep_history) {
  AsDone end{keep_history, {}, static_cast<std::uint32_t>(getpid())};
  std::array<char, 65> host{};
  if (gethostname(host.data(), host.size() - 1) == 0) end.host = host.data();
  return end;
}

Cancelled cancel_task(db::Connection& db, const TaskId& id, std::string_view reason,
                      const std::optional<AsDone>& as_done) {
  constexpr int kTries = 5;  // a task may move to a later key between a read and the deletion
  for (int tries = 0; tries < kTries; ++tries) {
    Cancelled result;
    result.task = show(db, id);
    if (!result.task || result.task->dead) return result;
    std::optional<Standing> before;
    if (!result.task->running) before = standing(db, *result.task);
    if (runs(*result.task, before)) {
      result.requested = request_cancel(db, id, result.task->run_key, reason, as_done.has_value());
      result.holder = before ? before->holder : result.task->holder;
      if (!result.requested) continue;
      result.conflict = requested_otherwise(db, id, as_done.has_value());
      return result;
    }
    const std::uint64_t run_key = result.task->run_key;
    if (!(as_done ? cancel_as_done(db, id, run_key, *as_done) : cancel(db, id, run_key, reason))) {
      continue;
    }
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
