// SPDX-License-Identifier: Apache-2.0
#include "worker/block/starter.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutant.h"
#include "log/log.h"
#include "plugin_host/abi_check.h"
#include "process/stop_request.h"
#include "queue/verbs/block.h"
#include "worker/lease/lease_keeper.h"
#include "worker/run/run.h"

namespace allot::worker {
namespace {

constexpr std::chrono::milliseconds kRetryEvery{10};  // of a careful turn
// How long one lease waits, once, for a careful task of another partition.
constexpr std::chrono::seconds kTurnPatience{10};
// Time for an idle worker to take waiting work, before a lease that could continue ends for it.
constexpr Nanos kIdlePatience = 50 * kMilli;

bool is_suspect(const queue::Task& task) {
  return (task.flags & queue::kSuspectFlag) != 0;
}

}  // namespace

CarefulTurn::CarefulTurn(const std::string& path) {
  if (path.empty()) return;
  file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (!file_.valid()) {
    throw Error(path + ": cannot be opened: " + std::strerror(errno), kExitCannotCreate);
  }
}

bool CarefulTurn::take(std::chrono::milliseconds patience) {
  const Nanos until = mono_ns() + in_nanos(patience);
  while (file_.valid() && flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (mono_ns() >= until || process::wait_asked(kRetryEvery)) return false;
  }
  return true;
}

void CarefulTurn::end() {
  if (file_.valid()) flock(file_.get(), LOCK_UN);
}

Starter::Starter(const BlockParts& parts, std::shared_ptr<const ServedQueue> queue, Block& block)
    : parts_(parts),
      queue_(std::move(queue)),
      block_(block),
      until_ns_(boot_ns() + in_nanos(queue_->settings->block_seconds)) {}

bool Starter::mark_named() {
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

bool Starter::must_leave() const {
  return parts_.done() || !parts_.keeper.valid();
}

bool Starter::is_over() {
  return must_leave() || (time_is_up() && !may_extend());
}

// S5: the last check before a handler starts.
Starter::Answer Starter::may_start() {
  if (block_.requires_one() ? must_leave() : is_over()) return Answer::kLeave;
  if (!block_.grant().may_start(boot_ns())) return Answer::kNextGrant;
  return parts_.slot.may_start() ? Answer::kStart : Answer::kLeave;
}

// Running tasks keep the lease beyond its time. New tasks may therefore start next to them if the
// worker would get the same lease again, and no other work waits for this worker.
bool Starter::may_extend() {
  if (!block_.fills_up() || parts_.executor.in_partition() == 0) return false;
  parts_.recovery.run_due();
  if (!parts_.finder.lease_unchanged(block_.lease().partition, block_.cap_part(),
                                     block_.grant().limited()))
    return false;
  const bool other_work = parts_.finder.has_other_work();
  if (other_work && had_other_work_) return false;
  had_other_work_ = other_work;
  until_ns_ = boot_ns() + (other_work ? kIdlePatience : in_nanos(queue_->settings->block_seconds));
  return true;
}

bool Starter::one_at_a_time() const {
  return queue_->in_order() || (queue_->exclusive() && !block_.fills_up());
}

Executor::Need Starter::need_of(const queue::Task& task) const {
  const plugin_host::LoadedHandler* handler = parts_.registry.find(task.type);
  const bool serial = handler != nullptr && handler->handler->concurrent == 0;
  Executor::Need need = {serial, one_at_a_time(), is_suspect(task), block_.cap_part()};
  need.may_wait = handler != nullptr && !serial && !need.partition && !need.worker &&
                  block_.cap_part() == 0 && plugin_host::max_batch(*handler->handler) == 1 &&
                  !block_.grant().limited();
  return need;
}

// A task that was charged before waits for its turn; others do not, or the tasks of a lost host
// would start again one after the other. An innocent task is therefore charged once together with a
// cause, and not again.
bool Starter::wait_for_turn(const queue::Task& task) {
  if (task.attempt == 0) return true;
  const process::SlotWriter::Guard guard(parts_.slot);
  if (patient_) patient_ = parts_.careful_turn.take(kTurnPatience);
  return !process::leaving();
}

// Number of tasks like this one that may go into one call, including it. 1: it runs alone.
std::size_t Starter::batch_limit(const queue::Task& task) const {
  if (queue_->exclusive() || queue_->in_order())
    return 1;  // one task of a partition at a time (S16)
  if (called_next_ > 0 || !task.payload || is_suspect(task)) return 1;
  const plugin_host::LoadedHandler* handler = parts_.registry.find(task.type);
  if (handler == nullptr) return 1;
  const std::uint64_t taken = plugin_host::max_batch(*handler->handler);
  return std::min({static_cast<std::size_t>(std::min<std::uint64_t>(taken, ipc::kMaxRunning)),
                   parts_.lifetime.room(), block_.grant().left(), parts_.executor.max_batch()});
}

Job Starter::next_job(const Executor::Need& need) {
  Job job{.lease = block_.lease(), .queue = queue_, .fetched_ns = block_.fetched_ns()};
  job.careful = need.worker;
  job.start_by_ns = block_.grant().start_by_ns();
  if (!block_.requires_one() && need.may_wait) {
    job.start_by_ns = std::min(job.start_by_ns, until_ns_);
  }
  const queue::Task& next = block_.waiting().front();
  const std::string type = next.type;
  job.tasks = block_.start(batch_limit(next), [&](const queue::Task& task) {
    return task.type == type && task.payload && !is_suspect(task) && parts_.slot.may_start();
  });
  if (called_next_ > 0) --called_next_;
  for (const queue::Task& task : job.tasks) parts_.finder.seen(task.key.run_key);
  block_.grant().start(job.tasks.size(), boot_ns());
  parts_.lifetime.ran(job.tasks.size());
  return job;
}

// The grant gets the start of a task that was not called back; an earlier grant has lapsed. S61: a
// failed call counts as a call.
void Starter::not_started(const Job& job, bool called) {
  parts_.slot.not_started();
  parts_.lifetime.ran_none();
  if (called) ++called_next_;
  if (called && !mutant::removed("charge_failed_call")) return;
  if (job.start_by_ns == block_.grant().start_by_ns()) block_.grant().not_started(1);
}

void Starter::mark_called() {
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
