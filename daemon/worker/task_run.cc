// SPDX-License-Identifier: Apache-2.0
#include "worker/task_run.h"

#include <algorithm>
#include <random>

#include "db/mutation.h"
#include "log/log.h"
#include "plugin_host/handler_call.h"
#include "worker/stop_request.h"

namespace allot::worker {

// Everything that belongs to one attempt.
struct TaskRun::Attempt {
  const queue::Lease& lease;
  const ServedQueue& queue;
  const queue::Task& task;
  const plugin_host::LoadedHandler* handler;
  std::string id;
  std::uint32_t number;  // from 1
};

namespace {

std::uint32_t dice() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return static_cast<std::uint32_t>(generator());
}

// What a handler may ask of this process while it runs.
class Hooks final : public plugin_host::HostHooks {
 public:
  Hooks(std::string_view task, std::string_view type, Nanos soft_deadline_ns,
        const LeaseKeeper& keeper, SlotWriter& slot)
      : task_(task),
        type_(type),
        soft_deadline_ns_(soft_deadline_ns),
        keeper_(keeper),
        slot_(slot) {}

  void log(int level, std::string_view text) noexcept override {
    const auto at = static_cast<log::Level>(std::clamp(level, 0, 3));
    log::write(at, "handler.log", {{"task", task_}, {"type", type_}, {"text", text}});
  }
  bool stop_requested() noexcept override {
    return asked() == Asked::kStop || boot_ns() >= soft_deadline_ns_ || !keeper_.valid();
  }
  void heartbeat() noexcept override { slot_.beat(); }

 private:
  std::string_view task_;
  std::string_view type_;
  Nanos soft_deadline_ns_;
  const LeaseKeeper& keeper_;
  SlotWriter& slot_;
};

// The task's place in the slot, from before the handler until after its verdict is noted.
class RunningMark {
 public:
  RunningMark(SlotWriter& slot, LeaseKeeper& keeper, Nanos hard_deadline_ns)
      : slot_(slot), keeper_(keeper) {
    keeper_.set_task_deadline(hard_deadline_ns);
  }
  RunningMark(const RunningMark&) = delete;
  RunningMark& operator=(const RunningMark&) = delete;
  ~RunningMark() {
    keeper_.set_task_deadline(0);
    slot_.end_task();
  }

 private:
  SlotWriter& slot_;
  LeaseKeeper& keeper_;
};

}  // namespace

TaskRun::TaskRun(Session& session, const queue::TaskStore& tasks,
                 const plugin_host::Registry& registry, LeaseKeeper& keeper, SlotWriter& slot,
                 std::chrono::milliseconds soft_timeout, std::chrono::milliseconds hard_timeout)
    : session_(session),
      tasks_(tasks),
      registry_(registry),
      keeper_(keeper),
      slot_(slot),
      soft_timeout_ns_(static_cast<Nanos>(soft_timeout.count()) * kMilli),
      hard_timeout_ns_(static_cast<Nanos>(hard_timeout.count()) * kMilli) {}

TaskRun::Result TaskRun::run(const queue::Lease& lease, const ServedQueue& queue, queue::Task& task,
                             bool careful) {
  const plugin_host::LoadedHandler* handler = registry_.find(task.type);
  if (handler == nullptr) return Result::kUnknownType;
  const queue::TaskId id{lease.partition, task.key.prio, task.id_key()};
  const Attempt attempt{lease, queue, task, handler, id.text(), task.attempt + 1};
  if (task.attempt >= queue.settings->max_attempts) {
    // Its attempts were written before they ran, and the last of them took its worker's host down.
    return bury({lease, queue, task, handler, attempt.id, task.attempt},
                {"lost", "the last attempt never came back: its host went down or lost its lease"});
  }
  if (!task.payload) {
    task.payload = session_.call([&](db::Connection& db) {
      return queue::TaskStore::fetch_payload(db, lease.partition, task.key);
    });
    if (!task.payload) return Result::kWritten;  // removed in the meantime
  }
  if (careful) {
    const auto landed = session_.call(
        [&](db::Connection& db) { return tasks_.announce(db, lease, task, attempt.number); });
    if (landed == queue::Landed::kLeaseGone) return Result::kLeaseGone;
  }
  // The calls above may have taken long: look again (S5).
  if (!keeper_.valid()) return Result::kLeaseGone;
  return call_handler(attempt);
}

TaskRun::Result TaskRun::call_handler(const Attempt& attempt) {
  const queue::Task& task = attempt.task;
  const std::uint32_t max_attempts = attempt.queue.settings->max_attempts;
  const Nanos started = boot_ns();
  const Nanos soft_deadline = started + soft_timeout_ns_;
  const Nanos hard_deadline = started + hard_timeout_ns_;
  slot_.begin_task(task, attempt.number, max_attempts, soft_deadline, hard_deadline);
  const RunningMark mark(slot_, keeper_, hard_deadline);
  Hooks hooks(attempt.id, task.type, soft_deadline, keeper_, slot_);
  plugin_host::CallResult result;
  if (db::without("ack_after_return")) {
    const queue::Finished early = queue::finished(task);
    session_.call([&](db::Connection& db) {
      queue::TaskStore::ack(db, attempt.lease.partition, {&early, 1});
      return true;
    });
  }
  {
    const SlotWriter::Guard guard(slot_);
    result = plugin_host::call(*attempt.handler,
                               {attempt.id, attempt.queue.info.name, task.type, *task.payload,
                                attempt.number, max_attempts, soft_deadline},
                               hooks);
  }
  log::debug("task.ran", {{"task", attempt.id},
                          {"type", task.type},
                          {"attempt", attempt.number},
                          {"outcome", plugin_host::name_of(result.kind)},
                          {"runtime_us", (boot_ns() - started) / kMicro}});
  if (!keeper_.valid()) {
    // S5: it may have run beside another one. The checker wants a fault that explains it.
    log::warn("lease.overrun",
              {{"task", attempt.id}, {"partition", attempt.lease.partition.partition_no}});
  }
  switch (result.kind) {
    case plugin_host::OutcomeKind::kSuccess:
      slot_.add_finished(queue::finished(task));
      slot_.raw().tasks_done.fetch_add(1, std::memory_order_relaxed);
      return Result::kFinished;
    case plugin_host::OutcomeKind::kRetry:
      return retry(attempt, result.delay, {"retry", result.reason});
    case plugin_host::OutcomeKind::kFail:
      return bury(attempt, {"fail", result.reason});
  }
  return Result::kLeaseGone;
}

TaskRun::Result TaskRun::retry(const Attempt& attempt,
                               std::optional<std::chrono::microseconds> delay,
                               const queue::Verdict& verdict) {
  if (asked() == Asked::kStop) {
    // It was asked to stop and did: no failure, and no attempt is charged. The task was never
    // marked, so there is nothing to undo.
    log::info("task.interrupted", {{"task", attempt.id}, {"reason", verdict.error}});
    return Result::kWritten;
  }
  const config::Queue& settings = *attempt.queue.settings;
  if (attempt.number >= settings.max_attempts) return bury(attempt, verdict);
  const queue::RetryPolicy policy{settings.retry_delay, settings.retry_delay_max};
  const auto wait = delay.value_or(policy.delay(attempt.number, dice()));
  const auto landed = session_.call([&](db::Connection& db) {
    return tasks_.retry(db, attempt.lease, attempt.task, attempt.number, wait, verdict);
  });
  if (landed == queue::Landed::kLeaseGone) return Result::kLeaseGone;
  slot_.raw().tasks_retried.fetch_add(1, std::memory_order_relaxed);
  log::warn("task.retry", {{"task", attempt.id},
                           {"type", attempt.task.type},
                           {"attempt", attempt.number},
                           {"of", settings.max_attempts},
                           {"again_in_ms", wait.count() / 1000},
                           {"error", verdict.error}});
  return Result::kWritten;
}

TaskRun::Result TaskRun::bury(const Attempt& attempt, const queue::Verdict& verdict) {
  const auto landed = session_.call([&](db::Connection& db) {
    return tasks_.bury(db, attempt.lease, attempt.task, attempt.number, verdict);
  });
  if (landed == queue::Landed::kLeaseGone) return Result::kLeaseGone;
  slot_.raw().tasks_dead.fetch_add(1, std::memory_order_relaxed);
  log::error("task.dead", {{"task", attempt.id},
                           {"type", attempt.task.type},
                           {"attempt", attempt.number},
                           {"cause", verdict.cause},
                           {"error", verdict.error}});
  return Result::kWritten;
}

}  // namespace allot::worker
