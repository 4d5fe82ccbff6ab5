// SPDX-License-Identifier: Apache-2.0
#include "worker/job/job_runner.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "base/mutant.h"
#include "log/log.h"
#include "plugin_host/abi_check.h"
#include "process/finally.h"
#include "process/stop_request.h"
#include "queue/model/compression.h"
#include "queue/model/task_facts.h"
#include "queue/verbs/cancel_request.h"
#include "worker/job/usage.h"
#include "worker/lease/lease_keeper.h"
#include "worker/run/run_log.h"
#include "worker/run/served_queue.h"

namespace allot::worker {
namespace {

using Verb = queue::Ending::Verb;

// Limit for the payloads of one call, once decompressed: the same as for one task.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;

std::uint32_t dice() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return static_cast<std::uint32_t>(generator());
}

// Decompresses the payload once, however often the task then runs. Returns the problem, if any.
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

// A task with a charged attempt has begun. A task that began in another way has lost its expiry
// (A14).
bool expired(const queue::Task& task, Nanos fetched_ns) {
  if (!task.expires_in || task.attempt > 0) return false;
  return boot_ns() - fetched_ns >= in_nanos(*task.expires_in);
}

// Violates a rule for a mutation test, see base/mutant.h.
void ack_early(process::Session& session, const Run& run) {
  const queue::Finished early = queue::finished(run.task);
  session.call([&](db::Connection& db) { queue::ack(db, run.lease.partition, {&early, 1}); });
}

// The result after a write outside of the block. False: another worker has the task, or its
// detached row, and has charged it; for a detached task, no lease is lost.
TaskEnd ended(const Run& run, bool written) {
  if (run.fence.detached()) return {TaskEnd::Result::kDetached};
  return {written ? TaskEnd::Result::kWritten : TaskEnd::Result::kLeaseGone};
}

// Whether its attempts, or its losses if these are counted separately, are used up.
bool is_spent(const queue::Task& task, std::uint32_t most) {
  const auto verdicts = task.headers.verdicts_of(task.attempt);
  if (!verdicts) return task.attempt >= most;
  return *verdicts >= most || task.attempt - *verdicts > task.headers.max_losses;
}

// Time since a task was first due, by this host's clock.
std::uint64_t elapsed_ms(const queue::TaskId& id) {
  using namespace std::chrono;
  const std::int64_t now =
      duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, now - queue::due_ms(id.first_key)));
}

}  // namespace

JobRunner::JobRunner(process::Session& session, const queue::DetachedStore& detached,
                     const plugin_host::Registry& registry, LeaseKeeper& keeper,
                     process::SlotWriter& slot, const config::Settings& settings, SlotRange range)
    : session_(session),
      detached_(detached),
      registry_(registry),
      keeper_(keeper),
      slot_(slot),
      settings_(settings),
      range_(range),
      submitter_({.ringer = keeper.ringer()}) {}

std::vector<TaskEnd> JobRunner::run(Job& job) {
  std::vector<TaskEnd> ends(job.tasks.size());
  Call call{session_, keeper_, submitter_};
  prepare(call, job, ends);
  if (call.members.empty()) return ends;
  Run& first = call.members.front().run;
  if (job.careful) {
    first.announce();
    // Recorded as lost: this record stays if no verdict follows.
    if (!write(first, {Verb::kCharge, first.number, {}, queue::kUnreported})) {
      call.members.front().end = {Result::kLeaseGone};
      return ends;
    }
    first.task.attempt = first.number;  // so that the acknowledgement includes the record
  }
  // The steps before may have taken long: a careful turn, a payload, a suspended process.
  const bool late = boot_ns() >= job.start_by_ns;
  std::vector<Run*> runs;
  for (Call::Member& member : call.members) {
    Run& run = member.run;
    // A task leaves its partition alone, or stays in it with all others of its call.
    const bool may_leave = !run.queue.exclusive() && !call.several();  // S5
    if (may_leave) run.detach_after_ns = in_nanos(run.queue.settings->detach_after);
    runs.push_back(&run);
  }
  if (late || !keeper_.begin(runs)) {  // checks the lease again (S5)
    const Result result = late ? Result::kNothing : Result::kLeaseGone;
    for (Call::Member& member : call.members) member.end = not_started(member.run, result);
    return ends;
  }
  const plugin_host::ManyResult said = call_handler(call);
  if (said.each.empty()) {
    leave_alone(call, said.error);
    return ends;
  }
  // Successes come first: they need no database, so nothing comes between. Nothing is written for
  // the others once the lease is gone.
  for (const bool succeeded : {true, false}) {
    auto result = said.each.begin();
    for (Call::Member& member : call.members) {
      const plugin_host::CallResult& its = *result++;
      if ((its.kind == plugin_host::OutcomeKind::kSuccess) != succeeded) continue;
      member.end = verdict(member, its);
      member.run.end();
    }
  }
  return ends;
}

// Fills the call. A task that ends without its handler has its end already; tasks for which the
// call has no room stay unchanged.
void JobRunner::prepare(Call& call, Job& job, std::vector<TaskEnd>& ends) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    queue::Task& task = job.tasks[i];
    const std::uint32_t most = task.headers.max_attempts;
    const auto time_limit = task.headers.time_limit;
    const Run::Plan plan{
        .handler = registry_.find(task.type),
        .most = most != 0 ? most : config::max_attempts(settings_, *job.queue->settings, task.type),
        .entry = range_.entry + call.members.size(),
        .sole = job.sole,
        .time_limit =
            time_limit.count() != 0 ? time_limit : config::task_timeout(settings_, task.type)};
    Call::Member& member = call.members.emplace_back(call, slot_, job, task, plan, ends[i]);
    if (const auto end = end_before(member.run, job.fetched_ns)) {
      ends[i] = *end;
      call.members.pop_back();
      if (end->result != Result::kLeaseGone) continue;
      return call.members.clear();
    }
    bytes += task.payload->size();
    if (bytes > kMostBytes && call.several()) return call.members.pop_back();
  }
}

std::optional<TaskEnd> JobRunner::end_before(Run& run, Nanos fetched_ns) {
  queue::Task& task = run.task;
  run.waited = task.waited + std::chrono::microseconds((boot_ns() - fetched_ns) / kMicro);
  if (expired(task, fetched_ns)) {
    return end(run,
               facts_of(run, Facts::Outcome::kNotBegun, "expired", "expired before it started"));
  }
  if (const auto end = cancelled_before(run)) return end;
  if (run.plan.handler == nullptr) return TaskEnd{Result::kUnknownType};
  if (is_spent(task, run.plan.most)) return bury_spent(run);
  if (!task.payload) {
    task.payload = session_.call([&](db::Connection& db) {
      return queue::fetch_payload(db, run.lease.partition, task.key);
    });
    if (!task.payload) return TaskEnd{Result::kWritten};  // removed since the fetch
  }
  // No further attempt could read it either.
  const auto why = decompress(task);
  if (!why) return std::nullopt;
  return end(run, facts_of(run, Facts::Outcome::kFail, "payload", *why));
}

// The worker that ran it before did not finish: a request may be left (B11). Plain tasks skip the
// query.
std::optional<TaskEnd> JobRunner::cancelled_before(Run& run) {
  if ((run.task.flags & queue::kCancelWatchedFlag) == 0) return std::nullopt;
  const auto request =
      session_.call([&](db::Connection& db) { return queue::find_cancel(db, run.fence.id); });
  if (!request) return std::nullopt;
  Facts facts = facts_of(run, Facts::Outcome::kNotBegun, {}, {});
  facts.cancel = *request;
  return end(run, facts);
}

// Its attempts were written before they ran, and the last of them took its worker's host down; or
// fewer attempts are allowed now than were charged. In both cases its last attempt killed it.
TaskEnd JobRunner::bury_spent(Run& run) {
  const auto attempts =
      session_.call([&](db::Connection& db) { return queue::list_attempts(db, run.fence.id); });
  Facts facts =
      facts_of(run, Facts::Outcome::kNotBegun, queue::kUnreported.cause, queue::kUnreported.error);
  if (!attempts.empty()) {
    facts.cause = attempts.back().cause;
    facts.failure = {attempts.back().error, attempts.back().detail, attempts.back().fault};
  }
  return end(run, facts);
}

// A slow database must not use up the attempts of a task that never starts.
TaskEnd JobRunner::not_started(Run& run, Result result) {
  if (run.announced && write(run, {Verb::kRefund, run.number})) {
    log::info("task.not_started", {{"task", run.id},
                                   trace_field(run.task),
                                   {"reason", result == Result::kNothing
                                                  ? "it is counted in the rate of its queue again"
                                                  : "the lease may be lost"}});
  }
  return {result};
}

plugin_host::ManyResult JobRunner::call_handler(Call& call) {
  Run& first = call.members.front().run;
  const UsageMeter meter(range_.thread);
  plugin_host::ManyResult said;
  {
    const Finally ended([&] {
      for (Call::Member& member : call.members) keeper_.end(member.run);
    });
    std::vector<plugin_host::CallInput> inputs;
    std::vector<plugin_host::HostHooks*> hooks;
    for (Call::Member& member : call.members) {
      const Run& run = member.run;
      inputs.push_back({run.id, run.queue.info.name, run.task.type, *run.task.payload, run.number,
                        run.plan.most, run.soft_deadline_ns(), run.task.headers.trace.parent,
                        run.task.headers.trace.state});
      hooks.push_back(&member.hooks);
    }
    if (mutant::removed("ack_after_return")) ack_early(session_, first);
    const process::SlotWriter::Guard guard(slot_);
    if (call.several()) {
      said = plugin_host::call_many(*first.plan.handler, inputs, hooks);
    } else {
      said.each.push_back(plugin_host::call(*first.plan.handler, inputs.front(), *hooks.front()));
    }
    for (Call::Member& member : call.members) member.run.returned(keeper_.valid(member.run));
  }
  const bool plain = !call.several() &&
                     said.each.front().kind == plugin_host::OutcomeKind::kSuccess &&
                     !call.members.front().hooks.any() && !keeps_history(*first.queue.settings);
  if (plain && !is_slow(first.ran_ns(), settings_.logging.slow_task)) return said;
  const queue::Usage usage = meter.until_now(first.began_ns());
  for (Call::Member& member : call.members) member.run.usage = usage;
  return said;
}

// Charges no task. A task with a request for its end does not run again.
void JobRunner::leave_alone(Call& call, const std::string& why) {
  const Run& first = call.members.front().run;
  log::warn("task.call_failed", {{"type", first.task.type},
                                 {"tasks", call.members.size()},
                                 {"first_task", first.id},
                                 {"reason", why}});
  for (Call::Member& member : call.members) {
    Run& run = member.run;
    member.end = {Result::kByItself};
    if (run.cancelled()) {
      Facts facts = facts_of(run, Facts::Outcome::kRetry, {}, {});
      facts.cancel = run.keeping.cancel;
      member.end = end(run, facts);
    }
    run.end();
  }
}

TaskEnd JobRunner::verdict(Call::Member& member, const plugin_host::CallResult& said) {
  using Outcome = Facts::Outcome;
  Run& run = member.run;
  TaskHooks& hooks = member.hooks;
  log_ran(run, said, settings_.logging.slow_task);
  if (!run.was_valid()) log_overrun(run);
  const bool succeeded = said.kind == Outcome::kSuccess;
  if (succeeded) keep_record(run, run.number);
  // If it is unknown whether the task was detached, finding out needs the connection.
  if (!succeeded || run.keeping.place == Place::kUnknown) hooks.roll_back(succeeded);
  if (run.keeping.place != Place::kPartition && !resolve_detach(run)) return ended(run, false);
  if (succeeded && !hooks.any()) return finished(run);
  Facts facts;
  if (succeeded) {
    if (const auto end = acknowledge(member)) return *end;
    facts = facts_of(run, Outcome::kException, "exception", *hooks.lost());
  } else {
    facts = facts_of(run, said.kind, plugin_host::name_of(said.kind), {});
    facts.failure = failure_of(said);
    facts.wanted = said.delay;
    if (run.cancelled()) facts.cancel = run.keeping.cancel;
  }
  // The handler obeyed stop_requested, for a reason that is not the task's fault.
  const bool gave_way = said.kind == Outcome::kRetry && !run.was_valid() &&
                        boot_ns() < run.soft_deadline_ns() && !facts.verdicts;
  facts.excused = gave_way || hooks.excused();
  facts.log = run.said.text();
  const TaskEnd result = end(run, facts);
  // The database may have failed the handler. Then the task runs again at once, before any other of
  // its partition, so that the block ends here.
  const bool is_back =
      result.result == Result::kWritten || result.result == Result::kPartitionWaits;
  const bool tried_again = facts.outcome == Outcome::kRetry ||
                           facts.outcome == Outcome::kException ||
                           facts.outcome == Outcome::kNotStarted;
  if (hooks.excused() && is_back && tried_again && !facts.cancel) return {Result::kLeaseGone};
  return result;
}

// Commits the handler's writes together with the acknowledgement: all or nothing.
std::optional<TaskEnd> JobRunner::acknowledge(Call::Member& member) {
  const Run& run = member.run;
  const auto fenced = member.hooks.acknowledge(run.fence);
  if (!fenced) return std::nullopt;
  const bool written = *fenced == queue::Fenced::kWritten;
  if (written) {
    count(run, meter::Count::kDone);
  } else {
    log::warn("task.rolled_back", {{"task", run.id},
                                   {"type", run.task.type},
                                   trace_field(run.task),
                                   {"reason", "its lease was lost: its writes were rolled back"}});
  }
  return ended(run, written);
}

// If this is uncertain, detaches the task once more: that ends the lease if nothing else has, so
// that earlier calls can no longer have an effect. False: its lease is gone.
bool JobRunner::resolve_detach(Run& run) {
  const queue::Fence before = std::exchange(run.fence, run.fence.once_detached());
  if (run.keeping.place == Place::kDetached) return true;
  const bool detached = fenced(session_, keeper_, run.lease, "detach", [&](db::Connection& db) {
    if (run.plan.sole) {
      return detached_.detach(db, before, run.number, slot_.finished());
    }
    keeper_.end_last_call(db);
    return detached_.detach(db, before, run.number, {}, queue::Then::kKeepLease);
  });
  if (!detached) return false;
  run.detach();
  count(run, meter::Count::kDetached);
  return true;
}

TaskEnd JobRunner::finished(Run& run) {
  count(run, meter::Count::kDone);
  if (!run.fence.detached()) {
    run.finish();
    slot_.add_finished(queue::finished(run.task));
    return {Result::kFinished};
  }
  if (!mutant::removed("detached_finished_mark")) run.finish();
  return ended(run, write(run, {Verb::kAck, run.number, {}, {}, {}, run.task.record}));
}

Facts JobRunner::facts_of(const Run& run, Facts::Outcome outcome, std::string_view cause,
                          std::string_view error) const {
  Facts facts;
  facts.outcome = outcome;
  facts.attempt = outcome == Facts::Outcome::kNotBegun ? run.task.attempt : run.number;
  facts.most = run.plan.most;
  facts.in_order = run.queue.in_order();
  facts.stopping = process::asked() == process::Asked::kStop;
  facts.verdicts = run.task.headers.verdicts_of(run.number - 1);
  facts.max_losses = run.task.headers.max_losses;
  facts.unstarted = run.task.headers.unstarted;
  facts.written = run.announced || run.fence.detached();
  facts.expires = run.task.expires_in.has_value();
  facts.retry_delay = config::retry_delays(settings_, *run.queue.settings, run.task.type)
                          .delay(run.number + run.task.headers.unstarted, dice());
  facts.cause = cause;
  facts.failure.message = error;
  facts.usage = run.usage;
  facts.on_dead = on_dead(*run.queue.settings);
  return facts;
}

TaskEnd JobRunner::end(Run& run, const Facts& facts) {
  const Decision decision = decide(facts);
  if (decision.what == meter::Count::kDone) {
    keep_record(run, facts.attempt);
    log_end(run, facts, decision);
    return finished(run);
  }
  if (decision.ending && !write(run, *decision.ending)) return ended(run, false);
  count(run, decision.what);
  if (const auto error = error_of(decision, run.queue.info.queue_id, run.task.type)) {
    slot_.count_error(decision.what,
                      {run.queue.info.name, run.shown_type(), error->group, error->sample});
  }
  log_end(run, facts, decision);
  if (!decision.partition_wait) return ended(run, true);
  return {Result::kPartitionWaits, *decision.partition_wait};
}

void JobRunner::count(const Run& run, meter::Count what) {
  meter::Took took;
  if (what < meter::Count::kVerdicts && run.has_returned()) {
    took = {run.ran_ns(), in_nanos(run.waited)};
  }
  const bool over = what == meter::Count::kDone || what == meter::Count::kDead;
  if (over) took.elapsed_ms = elapsed_ms(run.fence.id);
  slot_.count(what, run.queue.info.name, run.shown_type(), took);
}

bool JobRunner::write(Run& run, const queue::Ending& ending) {
  const bool refunds = ending.verb == Verb::kRefund;
  if (refunds && !mutant::removed("interrupted_mark")) run.refund();
  const std::uint64_t generation = session_.generation();
  const auto fence = session_.call(
      [&](db::Connection& db) { return queue::write(db, detached_.holder(), run.fence, ending); });
  // For a detached task, the first try may have succeeded although its reply was lost: the task
  // that it ended is gone.
  const bool maybe = run.fence.detached() && session_.generation() != generation;
  const bool written = fence == queue::Fenced::kWritten || maybe;
  if (!written) {
    const char* const verb = queue::name_of(ending.verb);
    run.fence.detached() ? keeper_.lose(run, verb) : keeper_.lose(run.lease, verb);
  }
  if (refunds) run.end();
  return written;
}

// Keeps a record of the success for the history of its queue (C10).
void JobRunner::keep_record(Run& run, std::uint32_t attempt) const {
  if (!keeps_history(*run.queue.settings)) return;
  const queue::Holder& holder = detached_.holder();
  run.task.record = queue::Record{holder.host, holder.pid, attempt, run.usage};
}

}  // namespace allot::worker
