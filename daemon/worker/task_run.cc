// SPDX-License-Identifier: Apache-2.0
#include "worker/task_run.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "db/mutation.h"
#include "log/log.h"
#include "plugin_host/abi_check.h"
#include "plugin_host/handler_call.h"
#include "queue/cancel_request.h"
#include "queue/compression.h"
#include "queue/dead_letter.h"
#include "queue/inspect.h"
#include "worker/attempt.h"
#include "worker/cancel_watch.h"
#include "worker/fenced.h"
#include "worker/handler_hooks.h"
#include "worker/recovery.h"
#include "worker/run_hooks.h"
#include "worker/running_mark.h"
#include "worker/stop_request.h"
#include "worker/task_limits.h"
#include "worker/task_writes.h"
#include "worker/usage.h"

namespace allot::worker {

namespace {

Nanos nanos(std::chrono::milliseconds time) {
  return static_cast<Nanos>(time.count()) * kMilli;
}

std::uint32_t dice() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return static_cast<std::uint32_t>(generator());
}

// Decompresses the payload once, however often the task then runs. Returns what is wrong with it.
std::optional<std::string> decompress(queue::Task& task) {
  if ((task.flags & queue::kCompressedFlags) == 0) return std::nullopt;
  try {
    task.payload = queue::decompress(task.flags, std::move(*task.payload));
    task.flags = (task.flags & ~queue::kCompressedFlags) | queue::kCompressibleFlag;
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

// Keeps a record of the success for the history of its queue (C10).
void keep_record(TaskRun::Attempt& attempt, const queue::Holder& holder) {
  attempt.task.record = queue::Record{holder.host, holder.pid, attempt.number, attempt.usage};
}

bool tried_again(const plugin_host::CallResult& result) {
  return result.kind == plugin_host::OutcomeKind::kRetry ||
         result.kind == plugin_host::OutcomeKind::kException;
}

// The rule that a mutation leaves out, see db/mutation.h.
void ack_early(Session& session, const TaskRun::Attempt& attempt) {
  const queue::Finished early = queue::finished(attempt.task);
  session.call([&](db::Connection& db) {
    queue::TaskStore::ack(db, attempt.lease.partition, {&early, 1});
    return true;
  });
}

}  // namespace

TaskRun::TaskRun(Session& session, const queue::TaskStore& tasks,
                 const queue::DetachedStore& detached, const plugin_host::Registry& registry,
                 LeaseKeeper& keeper, SlotWriter& slot, const config::Settings& settings, Seat seat)
    : session_(session),
      tasks_(tasks),
      detached_(detached),
      registry_(registry),
      keeper_(keeper),
      slot_(slot),
      settings_(settings),
      seat_(seat) {}

TaskRun::Result TaskRun::run(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task,
                             bool careful, std::span<const queue::Finished> finished, bool beside) {
  if (const auto ended = cancelled_before(lease, queue, task)) return *ended;
  const plugin_host::LoadedHandler* handler = registry_.find(task.type);
  if (handler == nullptr) return Result::kUnknownType;
  Attempt attempt = attempt_of(lease, queue, task, *handler, seat_.entry);
  attempt.announced = careful;
  attempt.before = finished;
  attempt.beside = beside;
  if (const auto ended = prepare(attempt)) return *ended;
  if (careful && !announce(attempt)) return Result::kLeaseGone;
  return call_handler(attempt);
}

TaskRun::Attempt TaskRun::attempt_of(const queue::Lease& lease, const ServedQueue& queue,
                                     queue::Task& task, const plugin_host::LoadedHandler& handler,
                                     std::size_t entry) const {
  const queue::TaskId id{lease.partition, task.key.prio, task.id_key()};
  return {.lease = lease,
          .queue = queue,
          .task = task,
          .handler = &handler,
          .public_id = id,
          .id = id.text(),
          .number = task.attempt + 1,
          .most = config::max_attempts(settings_, *queue.settings, task.type),
          .announced = false,
          .before = {},
          .entry = entry};
}

std::optional<TaskRun::Result> TaskRun::prepare(Attempt& attempt) {
  queue::Task& task = attempt.task;
  if (task.attempt >= attempt.most) return bury_spent(attempt);
  if (!task.payload) {
    task.payload = session_.call([&](db::Connection& db) {
      return queue::TaskStore::fetch_payload(db, attempt.lease.partition, task.key);
    });
    if (!task.payload) return Result::kWritten;  // removed in the meantime
  }
  // No further attempt could read it either.
  if (const auto why = decompress(task)) return bury(attempt, {"payload", *why});
  return std::nullopt;
}

bool TaskRun::announce(Attempt& attempt) {
  queue::Task& task = attempt.task;
  slot_.announce_task(task, attempt.number, attempt.entry);
  const bool announced = write(attempt, "announce", [&](db::Connection& db) {
    return tasks_.announce(db, attempt.lease, task, attempt.number);
  });
  if (!announced) {
    slot_.end_announced(attempt.entry);
    return false;
  }
  task.attempt = attempt.number;  // so that the acknowledgement includes the record
  return true;
}

TaskRun::Result TaskRun::expire(const queue::Lease& lease, const ServedQueue& queue,
                                queue::Task& task) {
  const queue::TaskId id{lease.partition, task.key.prio, task.id_key()};
  const Attempt attempt{lease, queue, task, nullptr, id, id.text(), 0, 0, false, {}};
  const queue::Verdict verdict{"expired", "it had not begun when its time was over"};
  const bool written = write(attempt, "expire", [&](db::Connection& db) {
    return tasks_.bury_spent(db, lease, task, verdict, on_dead(*queue.settings));
  });
  return written ? buried(attempt, task.attempt, verdict) : Result::kLeaseGone;
}

// A slow database must not use up the attempts of a task that never starts.
TaskRun::Result TaskRun::not_started(const Attempt& attempt) {
  if (!attempt.announced) return Result::kLeaseGone;
  if (give_back(attempt)) {
    log::info("task.not_started", {{"task", attempt.id}, {"reason", "the lease is in doubt"}});
  }
  return Result::kLeaseGone;
}

template <typename Write>
bool TaskRun::write(const Attempt& attempt, const char* verb, Write&& write) {
  if (!attempt.detached) return fenced(session_, keeper_, attempt.lease, verb, write);
  const std::uint64_t generation = session_.generation();
  if (session_.call(write) == queue::Landed::kYes) return true;
  // The first try may have succeeded although its reply was lost: the task that it ended is gone.
  if (session_.generation() != generation) return true;
  keeper_.lose_task(attempt.lease, verb, attempt.entry);
  return false;
}

TaskRun::Result TaskRun::ended(const Attempt& attempt) {
  return attempt.detached ? Result::kDetached : Result::kWritten;
}

// Somebody recovered the detached task, and has charged it.
TaskRun::Result TaskRun::dropped(const Attempt& attempt) {
  return attempt.detached ? Result::kDetached : Result::kLeaseGone;
}

bool TaskRun::give_back(const Attempt& attempt) {
  if (!db::without("interrupted_mark")) slot_.task_interrupted(attempt.entry);
  const bool written = write(attempt, "give_back", [&](db::Connection& db) {
    return attempt.detached ? queue::DetachedStore::give_back(db, *attempt.detached, attempt.number)
                            : tasks_.give_back(db, attempt.lease, attempt.task, attempt.number);
  });
  slot_.end_announced(attempt.entry);
  return written;
}

TaskRun::AtWork::AtWork(TaskRun& run, Attempt& of)
    : attempt(of),
      cancel(nanos(of.queue.settings->cancel_grace), [this] { mark->cancel_asked(); }),
      writes(run.session_, run.keeper_, of.lease, of.task, of.queue.info, of.entry) {}

TaskAtWork TaskRun::for_keeper(AtWork& work, Nanos detach_after_ns) {
  const Attempt& attempt = work.attempt;
  return {&attempt.task, attempt.number, attempt.before, detach_after_ns,
          attempt.entry, attempt.beside, &work.cancel};
}

void TaskRun::begin(AtWork& work, Nanos now) {
  const Attempt& attempt = work.attempt;
  const auto time_limit = config::task_timeout(settings_, attempt.task.type);
  work.began_ns = now;
  work.limits = {now + nanos(config::soft_task_timeout(time_limit)), now + nanos(time_limit),
                 nanos(plugin_host::progress_every(*attempt.handler->handler))};
  work.mark.emplace(slot_, keeper_, attempt.task, RunningMark::Number{attempt.number, attempt.most},
                    work.limits, work.cancel, now, attempt.entry);
}

plugin_host::CallInput TaskRun::input_of(const AtWork& work) {
  const Attempt& attempt = work.attempt;
  return {attempt.id,         attempt.queue.info.name,
          attempt.task.type,  *attempt.task.payload,
          attempt.number,     attempt.most,
          work.limits.soft_ns};
}

void TaskRun::returned(AtWork& work) {
  work.returned_ns = boot_ns();
  work.valid = work.mark->valid();
  work.mark->stop_clock();
}

bool TaskRun::wants_usage(const AtWork& work, const plugin_host::CallResult& result) {
  return result.kind != plugin_host::OutcomeKind::kSuccess || work.writes.any() ||
         keeps_history(*work.attempt.queue.settings);
}

TaskRun::Result TaskRun::call_handler(Attempt& attempt) {
  const config::Queue& queue = *attempt.queue.settings;
  const Nanos detach_after = attempt.queue.exclusive() ? 0 : nanos(queue.detach_after);  // S5
  AtWork work(*this, attempt);
  // Everything before may have taken long, so this looks at the lease again (S5).
  const TaskAtWork kept = for_keeper(work, detach_after);
  const auto begun = [this, &work](Nanos now) { begin(work, now); };
  if (!keeper_.tasks_begin({&kept, 1}, begun)) return not_started(attempt);
  HandlerHooks hooks(attempt.id, attempt.task.type, work.limits.soft_ns, *work.mark, work.writes);
  const UsageMeter meter(seat_.thread);
  plugin_host::CallResult result;
  if (db::without("ack_after_return")) ack_early(session_, attempt);
  {
    const SlotWriter::Guard guard(slot_);
    result = plugin_host::call(*attempt.handler, input_of(work), hooks);
    returned(work);
    work.place = work.mark->handler_returned();
  }
  if (wants_usage(work, result)) attempt.usage = meter.until_now(work.began_ns);
  return verdict(work, result);
}

TaskRun::Result TaskRun::verdict(AtWork& work, const plugin_host::CallResult& result) {
  Attempt& attempt = work.attempt;
  log_ran(attempt, result, work.returned_ns - work.began_ns);
  if (!work.valid) log_overrun(attempt);
  // Its end deletes requests along with it.
  if (work.cancel.attended()) attempt.task.flags |= queue::kAttendedFlag;
  const bool succeeded = result.kind == plugin_host::OutcomeKind::kSuccess;
  if (succeeded && keeps_history(*attempt.queue.settings)) keep_record(attempt, tasks_.holder());
  // Where nobody knows whether the task was detached, finding out needs the connection.
  if (!succeeded || work.place == Place::kUnknown) work.writes.roll_back(succeeded);
  if (!find_place(attempt, work.place)) return dropped(attempt);
  if (succeeded && work.writes.any()) return acknowledge(work);
  if (!succeeded && work.cancel.asked()) return cancelled(attempt, work.cancel.request());
  // The handler obeyed stop_requested, for a reason that is not the task's; or the database failed
  // it.
  const bool gave_way = result.kind == plugin_host::OutcomeKind::kRetry && !work.valid &&
                        boot_ns() < work.limits.soft_ns;
  if (tried_again(result) && work.writes.excused()) return run_again(attempt, result.reason);
  return gave_way ? interrupted(attempt, result.reason) : act_on(attempt, result);
}

// The task runs again at once, before any other of its partition, so the block ends here.
TaskRun::Result TaskRun::run_again(const Attempt& attempt, const std::string& reason) {
  return interrupted(attempt, reason) == Result::kDetached ? Result::kDetached : Result::kLeaseGone;
}

// Commits what the handler wrote together with the acknowledgement: all or nothing.
TaskRun::Result TaskRun::acknowledge(AtWork& work) {
  const Attempt& attempt = work.attempt;
  TaskWrites& writes = work.writes;
  using End = TaskWrites::End;
  const End end = writes.lost() ? End::kUndone : writes.acknowledge(attempt.detached);
  switch (end) {
    case End::kYes:
      slot_.count_done();
      return ended(attempt);
    case End::kLeaseGone:
      log::warn("task.undone", {{"task", attempt.id},
                                {"type", attempt.task.type},
                                {"reason", "its lease was gone: what it wrote is undone"}});
      return dropped(attempt);
    case End::kUndone:
      break;
  }
  if (writes.excused()) return run_again(attempt, *writes.lost());
  return retry(attempt, std::nullopt, {"exception", *writes.lost(), attempt.usage});
}

TaskRun::Result TaskRun::act_on(const Attempt& attempt, const plugin_host::CallResult& result) {
  switch (result.kind) {
    case plugin_host::OutcomeKind::kSuccess:
      return finished(attempt);
    case plugin_host::OutcomeKind::kRetry:
      return retry(attempt, result.delay, {"retry", result.reason, attempt.usage});
    case plugin_host::OutcomeKind::kFail:
      return bury(attempt, {"fail", result.reason, attempt.usage});
    case plugin_host::OutcomeKind::kException:
      return retry(attempt, std::nullopt, {"exception", result.reason, attempt.usage});
    case plugin_host::OutcomeKind::kSnooze:
      return again(attempt, "task.snoozed", result.delay, result.reason);
    case plugin_host::OutcomeKind::kRelease:
      return again(attempt, "task.released", std::chrono::microseconds(0), result.reason);
  }
  return Result::kLeaseGone;
}

// In doubt this detaches the task once more: that ends the lease if nothing else has, so that calls
// which were sent before can no longer do anything.
bool TaskRun::find_place(Attempt& attempt, Place place) {
  if (place == Place::kPartition) return true;
  attempt.detached = queue::DetachedStore::detached(attempt.lease, attempt.task);
  if (place == Place::kDetached) return true;
  return fenced(session_, keeper_, attempt.lease, "detach", [&](db::Connection& db) {
    if (attempt.beside) {
      keeper_.end_last_call(db);
      return detached_.detach_beside(db, attempt.lease, attempt.task, attempt.number);
    }
    return detached_.detach(db, attempt.lease, attempt.task, attempt.number, attempt.before);
  });
}

TaskRun::Result TaskRun::finished(const Attempt& attempt) {
  slot_.count_done();
  if (!attempt.detached) {
    slot_.add_finished(queue::finished(attempt.task));
    return Result::kFinished;
  }
  if (!db::without("detached_finished_mark")) slot_.detached_finished(attempt.entry);
  const bool written = write(attempt, "ack", [&](db::Connection& db) {
    return queue::DetachedStore::ack(db, *attempt.detached, attempt.task.record);
  });
  return written ? ended(attempt) : dropped(attempt);
}

std::chrono::microseconds TaskRun::pause_after(const Attempt& attempt) const {
  auto [first, most, list] = config::pauses(settings_, *attempt.queue.settings, attempt.task.type);
  return queue::RetryPolicy{first, most, std::move(list)}.delay(attempt.number, dice());
}

TaskRun::Result TaskRun::retry(const Attempt& attempt,
                               std::optional<std::chrono::microseconds> delay,
                               const queue::Verdict& verdict) {
  if (asked() == Asked::kStop) return interrupted(attempt, std::string(verdict.error));
  if (attempt.number >= attempt.most) return bury(attempt, verdict);
  const auto wait = delay.value_or(pause_after(attempt));
  const bool in_order = attempt.queue.in_order();
  const bool written = write(attempt, "retry", [&](db::Connection& db) {
    if (in_order) {
      return tasks_.charge(db, attempt.lease, attempt.task, attempt.number, verdict);
    }
    return attempt.detached
               ? queue::DetachedStore::retry(db, *attempt.detached, attempt.number, wait, verdict)
               : tasks_.retry(db, attempt.lease, attempt.task, attempt.number, wait, verdict);
  });
  if (!written) return dropped(attempt);
  slot_.count_retried();
  log::warn("task.retry", {{"task", attempt.id},
                           {"type", attempt.task.type},
                           {"attempt", attempt.number},
                           {"of", attempt.most},
                           {"again_in_ms", wait.count() / 1000},
                           {"cause", verdict.cause},
                           {"error", verdict.error}});
  return in_order ? hold(wait) : ended(attempt);
}

TaskRun::Result TaskRun::hold(std::chrono::microseconds pause) {
  held_for_ = pause;
  return Result::kHeld;
}

// The handler was asked to stop and did: this is no failure, and charges no attempt. Unless the
// attempt was announced or the task detached, it was never marked, and there is nothing to undo.
TaskRun::Result TaskRun::interrupted(const Attempt& attempt, const std::string& reason) {
  if ((attempt.announced || attempt.detached) && !give_back(attempt)) return dropped(attempt);
  log::info("task.interrupted", {{"task", attempt.id}, {"reason", reason}});
  // Its lease may be valid again by now, but no task of its key may overtake it.
  return attempt.queue.in_order() ? hold(std::chrono::microseconds(0)) : ended(attempt);
}

TaskRun::Result TaskRun::again(const Attempt& attempt, const char* how,
                               std::optional<std::chrono::microseconds> delay,
                               const std::string& reason) {
  const auto wait = delay.value_or(pause_after(attempt));
  const bool in_order = attempt.queue.in_order();
  const bool written =
      in_order
          ? !attempt.announced || give_back(attempt)
          : write(attempt, "snooze", [&](db::Connection& db) {
              return attempt.detached
                         ? queue::DetachedStore::snooze(db, *attempt.detached, attempt.number, wait)
                         : tasks_.snooze(db, attempt.lease, attempt.task, attempt.number, wait);
            });
  if (!written) return dropped(attempt);
  log::info(how, {{"task", attempt.id},
                  {"type", attempt.task.type},
                  {"again_in_ms", wait.count() / 1000},
                  {"reason", reason}});
  return in_order ? hold(wait) : ended(attempt);
}

TaskRun::Result TaskRun::bury(const Attempt& attempt, const queue::Verdict& verdict) {
  const auto hook = on_dead(*attempt.queue.settings);
  const bool written = write(attempt, "bury", [&](db::Connection& db) {
    return attempt.detached
               ? queue::DetachedStore::bury(db, *attempt.detached, attempt.number, verdict, hook)
               : tasks_.bury(db, attempt.lease, attempt.task, attempt.number, verdict,
                             queue::Then::kKeepLease, hook);
  });
  return written ? buried(attempt, attempt.number, verdict) : dropped(attempt);
}

// Its attempts were written before they ran, and the last of them took its worker's host down; or
// fewer attempts are allowed now than were charged. Either way it died of its last one.
TaskRun::Result TaskRun::bury_spent(const Attempt& attempt) {
  const auto attempts = session_.call(
      [&](db::Connection& db) { return queue::list_attempts(db, attempt.public_id); });
  queue::Verdict verdict = queue::kLost;
  if (!attempts.empty()) verdict = {attempts.back().cause, attempts.back().error};
  const bool written = write(attempt, "bury_spent", [&](db::Connection& db) {
    return tasks_.bury_spent(db, attempt.lease, attempt.task, verdict,
                             on_dead(*attempt.queue.settings));
  });
  return written ? buried(attempt, attempt.task.attempt, verdict) : Result::kLeaseGone;
}

TaskRun::Result TaskRun::cancelled(Attempt& attempt, const queue::CancelRequest& request) {
  if (request.as_done) return ended_as_done(attempt, request, "its handler ended");
  const std::string& reason = request.reason;
  const queue::Verdict verdict{queue::kCancelled, reason, attempt.usage};
  const bool written = write(attempt, "cancel", [&](db::Connection& db) {
    return attempt.detached
               ? queue::DetachedStore::bury(db, *attempt.detached, attempt.number, verdict)
               : tasks_.bury(db, attempt.lease, attempt.task, attempt.number, verdict);
  });
  if (!written) return dropped(attempt);
  log_cancelled(attempt.id, attempt.task.type, reason, "its handler ended");
  return ended(attempt);
}

// It is acknowledged as after a success, so nothing more comes of it.
TaskRun::Result TaskRun::ended_as_done(Attempt& attempt, const queue::CancelRequest& request,
                                       const char* how) {
  if (keeps_history(*attempt.queue.settings)) keep_record(attempt, tasks_.holder());
  log_cancelled(attempt.id, attempt.task.type, request.reason,
                std::string(how) + ", and it counts as done");
  return finished(attempt);
}

// The worker that ran it before did not finish: a request may be left (B11). Plain tasks do not
// ask.
std::optional<TaskRun::Result> TaskRun::cancelled_before(const queue::Lease& lease,
                                                         const ServedQueue& queue,
                                                         queue::Task& task) {
  if ((task.flags & queue::kAttendedFlag) == 0) return std::nullopt;
  const queue::TaskId id{lease.partition, task.key.prio, task.id_key()};
  const auto request =
      session_.call([&](db::Connection& db) { return queue::find_cancel(db, id); });
  if (!request) return std::nullopt;
  Attempt attempt{lease, queue, task, nullptr, id, id.text(), task.attempt, 0, false, {}};
  if (request->as_done) return ended_as_done(attempt, *request, "it was not started again");
  const bool written = write(attempt, "cancel", [&](db::Connection& db) {
    return tasks_.bury_spent(db, lease, task, {queue::kCancelled, request->reason});
  });
  if (!written) return Result::kLeaseGone;
  log_cancelled(attempt.id, task.type, request->reason, "it was not started again");
  return Result::kWritten;
}

TaskRun::Result TaskRun::buried(const Attempt& attempt, std::uint32_t last,
                                const queue::Verdict& verdict) {
  slot_.count_dead();
  log_dead(attempt.id, attempt.task.type, last, verdict);
  return ended(attempt);
}

}  // namespace allot::worker
