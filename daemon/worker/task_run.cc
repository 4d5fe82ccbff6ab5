// SPDX-License-Identifier: Apache-2.0
#include "worker/task_run.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/mutant.h"
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

using Verb = queue::Ending::Verb;

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

bool tried_again(const Facts& facts) {
  return facts.outcome == Facts::Outcome::kRetry || facts.outcome == Facts::Outcome::kException;
}

Facts::Outcome outcome_of(plugin_host::OutcomeKind kind) {
  using Kind = plugin_host::OutcomeKind;
  switch (kind) {
    case Kind::kSuccess:
      return Facts::Outcome::kSuccess;
    case Kind::kRetry:
      return Facts::Outcome::kRetry;
    case Kind::kFail:
      return Facts::Outcome::kFail;
    case Kind::kException:
      return Facts::Outcome::kException;
    case Kind::kSnooze:
      return Facts::Outcome::kSnooze;
    case Kind::kRelease:
      return Facts::Outcome::kRelease;
  }
  return Facts::Outcome::kRetry;
}

// The rule that a mutation leaves out, see base/mutant.h.
void ack_early(Session& session, const TaskRun::Attempt& attempt) {
  const queue::Finished early = queue::finished(attempt.task);
  session.call([&](db::Connection& db) {
    queue::ack(db, attempt.lease.partition, {&early, 1});
    return true;
  });
}

}  // namespace

TaskRun::TaskRun(Session& session, const queue::DetachedStore& detached,
                 const plugin_host::Registry& registry, LeaseKeeper& keeper, SlotWriter& slot,
                 const config::Settings& settings, Seat seat)
    : session_(session),
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
  const queue::Claim claim = queue::claim(lease, task);
  return {.lease = lease,
          .claim = claim,
          .queue = queue,
          .task = task,
          .handler = &handler,
          .id = claim.id.text(),
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
      return queue::fetch_payload(db, attempt.lease.partition, task.key);
    });
    if (!task.payload) return Result::kWritten;  // removed in the meantime
  }
  // No further attempt could read it either.
  if (const auto why = decompress(task)) {
    return end(attempt, facts_of(attempt, Facts::Outcome::kFail, "payload", *why));
  }
  return std::nullopt;
}

bool TaskRun::announce(Attempt& attempt) {
  queue::Task& task = attempt.task;
  slot_.announce_task(task, attempt.number, attempt.entry);
  // As lost: this record stays if no verdict follows.
  const queue::Ending lost{Verb::kCharge, attempt.number, {}, queue::kLost};
  const bool announced = write(attempt, lost);
  if (!announced) {
    slot_.end_announced(attempt.entry);
    return false;
  }
  task.attempt = attempt.number;  // so that the acknowledgement includes the record
  return true;
}

TaskRun::Result TaskRun::expire(const queue::Lease& lease, const ServedQueue& queue,
                                queue::Task& task) {
  Attempt attempt = not_begun(lease, queue, task);
  return end(attempt, facts_of(attempt, Facts::Outcome::kNotBegun, "expired",
                               "it had not begun when its time was over"));
}

// A slow database must not use up the attempts of a task that never starts.
TaskRun::Result TaskRun::not_started(const Attempt& attempt) {
  if (!attempt.announced) return Result::kLeaseGone;
  if (write(attempt, {Verb::kRefund, attempt.number})) {
    log::info("task.not_started", {{"task", attempt.id}, {"reason", "the lease is in doubt"}});
  }
  return Result::kLeaseGone;
}

bool TaskRun::write(const Attempt& attempt, const queue::Ending& ending) {
  if (ending.verb == Verb::kRefund) return refund(attempt, ending);
  return send(attempt, ending);
}

bool TaskRun::send(const Attempt& attempt, const queue::Ending& ending) {
  const auto write = [&](db::Connection& db) {
    return queue::write(db, detached_.holder(), attempt.claim, ending);
  };
  const char* const verb = queue::name_of(ending.verb);
  if (!attempt.claim.detached()) return fenced(session_, keeper_, attempt.lease, verb, write);
  const std::uint64_t generation = session_.generation();
  if (session_.call(write) == queue::Fenced::kWritten) return true;
  // The first try may have succeeded although its reply was lost: the task that it ended is gone.
  if (session_.generation() != generation) return true;
  keeper_.lose_task(attempt.lease, verb, attempt.entry);
  return false;
}

TaskRun::Result TaskRun::ended(const Attempt& attempt) {
  return attempt.claim.detached() ? Result::kDetached : Result::kWritten;
}

// Somebody recovered the detached task, and has charged it.
TaskRun::Result TaskRun::dropped(const Attempt& attempt) {
  return attempt.claim.detached() ? Result::kDetached : Result::kLeaseGone;
}

bool TaskRun::refund(const Attempt& attempt, const queue::Ending& ending) {
  if (!mutant::removed("interrupted_mark")) slot_.task_interrupted(attempt.entry);
  const bool written = send(attempt, ending);
  slot_.end_announced(attempt.entry);
  return written;
}

TaskRun::AtWork::AtWork(TaskRun& run, Attempt& of)
    : attempt(of),
      cancel(nanos(of.queue.settings->cancel_grace), [this] { mark->cancel_asked(); }),
      writes(run.session_, run.keeper_, of.claim, of.task, of.queue.info, of.entry) {}

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
  if (mutant::removed("ack_after_return")) ack_early(session_, attempt);
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
  if (work.cancel.watched()) attempt.task.flags |= queue::kCancelWatchedFlag;
  const bool succeeded = result.kind == plugin_host::OutcomeKind::kSuccess;
  if (succeeded) keep_record(attempt);
  // Where nobody knows whether the task was detached, finding out needs the connection.
  if (!succeeded || work.place == Place::kUnknown) work.writes.roll_back(succeeded);
  if (!resolve_detach(attempt, work.place)) return dropped(attempt);
  if (succeeded && work.writes.any()) return acknowledge(work);
  if (succeeded) return finished(attempt);
  Facts facts =
      facts_of(attempt, outcome_of(result.kind), plugin_host::name_of(result.kind), result.reason);
  facts.wanted = result.delay;
  // The handler obeyed stop_requested, for a reason that is not the task's.
  const bool gave_way = result.kind == plugin_host::OutcomeKind::kRetry && !work.valid &&
                        boot_ns() < work.limits.soft_ns;
  if (work.cancel.asked()) facts.cancel = work.cancel.request();
  return end_failed(work, facts, gave_way);
}

// The database may have failed the handler. Then the task runs again at once, before any other of
// its partition, so that the block ends here.
TaskRun::Result TaskRun::end_failed(AtWork& work, Facts& facts, bool gave_way) {
  facts.excused = gave_way || work.writes.excused();
  const Result result = end(work.attempt, facts);
  const bool again =
      work.writes.excused() && (result == Result::kWritten || result == Result::kHeld);
  return again && tried_again(facts) && !facts.cancel ? Result::kLeaseGone : result;
}

// Commits what the handler wrote together with the acknowledgement: all or nothing.
TaskRun::Result TaskRun::acknowledge(AtWork& work) {
  const Attempt& attempt = work.attempt;
  TaskWrites& writes = work.writes;
  using End = TaskWrites::End;
  const End end = writes.lost() ? End::kUndone : writes.acknowledge(attempt.claim);
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
  Facts facts = facts_of(attempt, Facts::Outcome::kException, "exception", *writes.lost());
  return end_failed(work, facts, false);
}

// In doubt this detaches the task once more: that ends the lease if nothing else has, so that calls
// which were sent before can no longer do anything.
bool TaskRun::resolve_detach(Attempt& attempt, Place place) {
  if (place == Place::kPartition) return true;
  const queue::Claim before = std::exchange(attempt.claim, attempt.claim.once_detached());
  if (place == Place::kDetached) return true;
  return fenced(session_, keeper_, attempt.lease, "detach", [&](db::Connection& db) {
    if (attempt.beside) {
      keeper_.end_last_call(db);
      return detached_.detach_beside(db, before, attempt.number);
    }
    return detached_.detach(db, before, attempt.number, attempt.before);
  });
}

TaskRun::Result TaskRun::finished(const Attempt& attempt) {
  slot_.count_done();
  if (!attempt.claim.detached()) {
    slot_.add_finished(queue::finished(attempt.task));
    return Result::kFinished;
  }
  if (!mutant::removed("detached_finished_mark")) slot_.detached_finished(attempt.entry);
  const bool written =
      write(attempt, {Verb::kAck, attempt.number, {}, {}, {}, attempt.task.record});
  return written ? ended(attempt) : dropped(attempt);
}

std::chrono::microseconds TaskRun::pause_after(const Attempt& attempt) const {
  auto [first, most, list] = config::pauses(settings_, *attempt.queue.settings, attempt.task.type);
  return queue::RetryPolicy{first, most, std::move(list)}.delay(attempt.number, dice());
}

// Keeps a record of the success for the history of its queue (C10).
void TaskRun::keep_record(Attempt& attempt) const {
  if (!keeps_history(*attempt.queue.settings)) return;
  const queue::Holder& holder = detached_.holder();
  attempt.task.record = queue::Record{holder.host, holder.pid, attempt.number, attempt.usage};
}

Facts TaskRun::facts_of(const Attempt& attempt, Facts::Outcome outcome, std::string_view cause,
                        std::string_view error) const {
  Facts facts;
  facts.outcome = outcome;
  facts.attempt = attempt.number;
  facts.most = attempt.most;
  facts.in_order = attempt.queue.in_order();
  facts.stopping = asked() == Asked::kStop;
  facts.written = attempt.announced || attempt.claim.detached();
  facts.pause = pause_after(attempt);
  facts.cause = cause;
  facts.error = error;
  facts.usage = attempt.usage;
  facts.on_dead = on_dead(*attempt.queue.settings);
  return facts;
}

TaskRun::Result TaskRun::end(Attempt& attempt, const Facts& facts) {
  const Decision decision = decide(facts);
  if (decision.what == Decision::What::kEnded) {
    keep_record(attempt);
    log_end(attempt, facts, decision);
    return finished(attempt);
  }
  if (decision.ending && !write(attempt, *decision.ending)) return dropped(attempt);
  if (decision.what == Decision::What::kRetried) slot_.count_retried();
  if (decision.what == Decision::What::kDead) slot_.count_dead();
  log_end(attempt, facts, decision);
  if (!decision.hold) return ended(attempt);
  held_for_ = *decision.hold;
  return Result::kHeld;
}

// Its attempts were written before they ran, and the last of them took its worker's host down; or
// fewer attempts are allowed now than were charged. Either way it died of its last one.
TaskRun::Result TaskRun::bury_spent(Attempt& attempt) {
  const auto attempts =
      session_.call([&](db::Connection& db) { return queue::list_attempts(db, attempt.claim.id); });
  Facts facts =
      facts_of(attempt, Facts::Outcome::kNotBegun, queue::kLost.cause, queue::kLost.error);
  if (!attempts.empty()) {
    facts.cause = attempts.back().cause;
    facts.error = attempts.back().error;
  }
  facts.attempt = attempt.task.attempt;
  return end(attempt, facts);
}

// For a task that ends before an attempt of it begins.
TaskRun::Attempt TaskRun::not_begun(const queue::Lease& lease, const ServedQueue& queue,
                                    queue::Task& task) {
  const queue::Claim claim = queue::claim(lease, task);
  return {lease, claim, queue, task, nullptr, claim.id.text(), task.attempt, 0, false, {}};
}

TaskRun::Result TaskRun::cancelled(Attempt& attempt, const queue::CancelRequest& request) {
  Facts facts = facts_of(attempt, Facts::Outcome::kRetry, {}, {});
  facts.cancel = request;
  return end(attempt, facts);
}

// The worker that ran it before did not finish: a request may be left (B11). Plain tasks do not
// ask.
std::optional<TaskRun::Result> TaskRun::cancelled_before(const queue::Lease& lease,
                                                         const ServedQueue& queue,
                                                         queue::Task& task) {
  if ((task.flags & queue::kCancelWatchedFlag) == 0) return std::nullopt;
  Attempt attempt = not_begun(lease, queue, task);
  const auto request =
      session_.call([&](db::Connection& db) { return queue::find_cancel(db, attempt.claim.id); });
  if (!request) return std::nullopt;
  Facts facts = facts_of(attempt, Facts::Outcome::kNotBegun, {}, {});
  facts.cancel = *request;
  return end(attempt, facts);
}

}  // namespace allot::worker
