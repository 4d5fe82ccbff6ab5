// SPDX-License-Identifier: Apache-2.0
#include "worker/lease_keeper.h"

#include <algorithm>
#include <csignal>

#include "log/log.h"
#include "peer/doorbell.h"
#include "worker/connect.h"
#include "worker/former_connection.h"

namespace allot::worker {
namespace {

// How soon a failed renewal is tried again.
constexpr Nanos kTryAgain = 200 * kMilli;
// How often the keeper looks at a running task. It goes by the clock, because a notice of each task
// would cost a fast one more than it takes.
constexpr Nanos kLookAtTask = 50 * kMilli;
// When workers are idle, a task that has run for this long leaves its partition to its neighbours.
constexpr Nanos kSlow = 100 * kMilli;

// A call of the keeper may not hang for longer than the lease lasts.
db::ConnectOptions with_short_calls(db::ConnectOptions options, std::chrono::microseconds ttl) {
  const auto third = std::max(std::chrono::milliseconds(1000),
                              std::chrono::duration_cast<std::chrono::milliseconds>(ttl / 3));
  options.call_timeout = std::min(options.call_timeout, third);
  const auto each = third / static_cast<int>(std::max<std::size_t>(1, options.servers.size()));
  options.connect_timeout =
      std::min(options.connect_timeout, std::max(std::chrono::milliseconds(1000), each));
  return options;
}

}  // namespace

LeaseKeeper::LeaseKeeper(const queue::LeaseStore& store, const queue::DetachedStore& detached,
                         db::ConnectOptions options, SlotWriter& slot, ipc::Board& board)
    : store_(store),
      detached_store_(detached),
      options_(with_short_calls(std::move(options), store.ttl())),
      ttl_ns_(static_cast<Nanos>(store.ttl().count()) * kMicro),
      slot_(slot),
      board_(board) {
  // The main thread gets the signals, because they have to interrupt its futex and poll calls.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LeaseKeeper::~LeaseKeeper() {
  {
    const std::lock_guard held(mutex_);
    stop_ = true;
    lease_.reset();
  }
  changed_.notify_all();
  thread_.join();
}

void LeaseKeeper::hold(const queue::Lease& lease, Nanos sent_ns) {
  {
    const std::lock_guard held(mutex_);
    lease_ = lease;
    lost_ = false;
    any_detached_ = false;
    releasing_ = false;
    renew_at_ns_ = sent_ns + ttl_ns_ / 3;
    trips_.add(boot_ns() - sent_ns);
    deadline_ns_ = deadline_after(sent_ns);
    slot_.lease_deadline(deadline_ns_);
  }
  changed_.notify_all();
}

void LeaseKeeper::releasing() {
  // Waits for a renewal under way, as long as its own deadlines allow: that is no freeze.
  const SlotWriter::Guard guard(slot_);
  const std::lock_guard held(mutex_);
  releasing_ = true;
  renew_at_ns_ = std::max(renew_at_ns_, boot_ns() + ttl_ns_ / 10);
}

void LeaseKeeper::drop() {
  const SlotWriter::Guard guard(slot_);  // as in releasing()
  const std::lock_guard held(mutex_);
  lease_.reset();
  deadline_ns_ = 0;
}

// A handler that starts in the last moments of a lease whose renewal is overdue only makes a
// duplicate: in an exclusive queue its supervisor would kill it at once.
bool LeaseKeeper::may_begin(Nanos now) const {
  return (!lost_.load() && now + ttl_ns_ / 10 < deadline_ns_.load()) ||
         mutant::removed("lease_deadline");
}

bool LeaseKeeper::tasks_begin(std::span<const TaskAtWork> works,
                              const std::function<void(Nanos)>& begun) {
  const SlotWriter::Guard guard(slot_);  // as in releasing()
  const std::lock_guard held(mutex_);
  const Nanos now = boot_ns();
  if (!may_begin(now)) return false;
  begun(now);
  for (const TaskAtWork& work : works) {
    Running& running = tasks_[work.entry];
    running.began_ns = now;
    running.work = work;
    running.lease = lease_.value_or(queue::Lease{});
    running.place = Place::kPartition;
    running.detached = false;
    running.lost = false;
    running.detach_at_ns = 0;
    if (work.cancel != nullptr) work.cancel->begin(now);
    most_ = std::max(most_, work.entry + 1);
  }
  return true;
}

Place LeaseKeeper::task_ended(std::size_t entry) {
  const SlotWriter::Guard guard(slot_);
  const std::lock_guard held(mutex_);
  Running& running = tasks_[entry];
  const bool beside = running.work && running.work->beside;
  running.work.reset();
  running.detached = false;
  if (running.place == Place::kUnknown && !beside) {
    lease_.reset();
    deadline_ns_ = 0;
  }
  return running.place;
}

bool LeaseKeeper::task_valid(std::size_t entry) const {
  const Running& running = tasks_[entry];
  if (!running.detached.load()) return valid();
  return (!running.lost.load() && boot_ns() < running.deadline_ns.load()) ||
         mutant::removed("lease_deadline");
}

// Works without the mutex, which the keeper holds during a renewal. hold(), which waits for the
// mutex, clears `lost_`: so a late finding about one lease never counts for the next one.
void LeaseKeeper::lose(const queue::Lease& lease, const char* verb) {
  if (lost_.exchange(true)) return;
  note_loss(lease, verb);
}

void LeaseKeeper::lose_task(const queue::Lease& lease, const char* verb, std::size_t entry) {
  if (!tasks_[entry].lost.exchange(true)) note_loss(lease, verb);
}

void LeaseKeeper::note_loss(const queue::Lease& lease, const char* verb) {
  slot_.raw().leases_lost.fetch_add(1, std::memory_order_relaxed);
  log::warn("lease.lost", {{"queue_id", lease.partition.queue_id},
                           {"partition", lease.partition.partition_no},
                           {"epoch", lease.epoch},
                           {"found_by", verb}});
}

void LeaseKeeper::end_last_call(db::Connection& db) {
  queue::FormerConnection former;
  {
    const std::lock_guard held(mutex_);
    former = former_connection(slot_.raw(), 1);
  }
  queue::kill_connections(db, {&former, 1});
}

void LeaseKeeper::work_was_added(std::uint32_t queue_id) {
  peer::ring(board_, queue_id, 1);
}

// The database counts from when it executed the statement, which was after it was sent. Whatever
// the reply says or how late it comes, the lease is valid until then.
Nanos LeaseKeeper::deadline_after(Nanos sent_ns) const {
  return sent_ns + ttl_ns_ - lease_margin(ttl_ns_, trips_);
}

void LeaseKeeper::run() {
  std::unique_lock held(mutex_);
  while (!stop_) {
    if (!act(held)) {
      wait(held);
      continue;
    }
    held.unlock();  // a task that ends does not wait for everything that is due
    std::this_thread::yield();
    held.lock();
  }
}

// Does one thing that is due.
bool LeaseKeeper::act(std::unique_lock<std::mutex>& held) {
  const Nanos now = boot_ns();
  const std::span<Running> tasks(tasks_.data(), most_);
  if (lease_is_due(now)) {
    renew(held);
    return true;
  }
  for (Running& running : tasks) {
    if (!renewal_is_due(running, now)) continue;
    renew_detached(held, running);
    return true;
  }
  for (Running& running : tasks) {
    if (!detach_is_due(running, now)) continue;
    detach(held, running);
    return true;
  }
  for (Running& running : tasks) {
    if (!cancel_look_is_due(running, now)) continue;
    look_for_cancel(held, running);
    return true;
  }
  return false;
}

// wait_for runs on CLOCK_MONOTONIC; after a suspend it wakes late and finds the lease expired.
void LeaseKeeper::wait(std::unique_lock<std::mutex>& held) {
  const Nanos now = boot_ns();
  std::optional<Nanos> next;
  if (lease_ && !lost_) next = std::min(now + kLookAtTask, std::max(renew_at_ns_, now + 1));
  for (const Running& running : std::span<Running>(tasks_.data(), most_)) {
    if (!running.work || running.place != Place::kDetached || running.lost) continue;
    const Nanos look =
        looks_for_cancel(running, now) ? running.work->cancel->next_look() : UINT64_MAX;
    const Nanos soonest = std::max(std::min(running.renew_at_ns, look), now + 1);
    next = std::min(next.value_or(UINT64_MAX), soonest);
  }
  if (!next) return changed_.wait(held);
  changed_.wait_for(held, std::chrono::nanoseconds(*next - now));
}

bool LeaseKeeper::over_time(const Running& running, Nanos now) {
  const Nanos deadline = running.hard_deadline_ns.load();
  return deadline != 0 && now >= deadline;
}

// Whether a task that the lease is renewed for is over its time.
bool LeaseKeeper::over_time(Nanos now) const {
  return std::any_of(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(most_),
                     [now](const Running& one) { return !one.detached && over_time(one, now); });
}

// Not while it is in doubt whether the lease has ended with a task.
bool LeaseKeeper::lease_is_due(Nanos now) const {
  if (!lease_ || lost_ || now < renew_at_ns_) return false;
  return std::none_of(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(most_),
                      [](const Running& one) {
                        return one.work && !one.work->beside && one.place == Place::kUnknown;
                      });
}

bool LeaseKeeper::renewal_is_due(const Running& running, Nanos now) {
  return running.work && running.place == Place::kDetached && !running.lost &&
         now >= running.renew_at_ns;
}

bool LeaseKeeper::detach_is_due(const Running& running, Nanos now) const {
  if (!lease_ || lost_ || !running.work || running.work->detach_after_ns == 0) return false;
  if (now < running.detach_at_ns) return false;
  if (running.place != Place::kPartition) return running.place == Place::kUnknown;
  if (over_time(running, now)) return false;
  const Nanos ran = now - running.began_ns;
  if (ran >= running.work->detach_after_ns) return true;
  if (ran < kSlow) return false;
  return peer::waits_for(board_, lease_->partition.queue_id) ||
         (running.work->beside && make_room_.load());
}

bool LeaseKeeper::looks_for_cancel(const Running& running, Nanos now) const {
  if (!running.work || running.work->cancel == nullptr || over_time(running, now)) return false;
  if (running.place == Place::kDetached) return !running.lost;
  return running.place == Place::kPartition && lease_ && !lost_;
}

bool LeaseKeeper::cancel_look_is_due(const Running& running, Nanos now) const {
  return looks_for_cancel(running, now) && now >= running.work->cancel->next_look();
}

void LeaseKeeper::connect_if_needed() {
  if (connection_) return;
  db::Connection fresh = connect(options_);
  const auto uptime = queue::server_uptime(fresh);
  connection_.emplace(std::move(fresh));
  slot_.connected(1, *connection_, uptime);
}

// Releases the mutex for a moment, so that failing calls do not starve drop().
void LeaseKeeper::try_again(std::unique_lock<std::mutex>& held) {
  connection_.reset();
  held.unlock();
  std::this_thread::yield();
  held.lock();
}

void LeaseKeeper::renew(std::unique_lock<std::mutex>& held) {
  if (over_time(boot_ns()) && !mutant::removed("renewal_deadline")) {
    // The task is over its time: no timer may blindly keep the lease alive for it (B3), unless it
    // ends or makes progress after all.
    renew_at_ns_ = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    return;
  }
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    if (!store_.renew(*connection_, *lease_)) {
      // The lease was released and the reply is lost or still to come; or it was lost, which the
      // release will report.
      if (releasing_) return lease_.reset();
      return lose(*lease_, "renew");
    }
    trips_.add(boot_ns() - sent);
    renew_at_ns_ = sent + ttl_ns_ / 3;
    deadline_ns_ = deadline_after(sent);
    slot_.lease_deadline(deadline_ns_);
    log::debug("lease.renewed", {{"queue_id", lease_->partition.queue_id},
                                 {"partition", lease_->partition.partition_no},
                                 {"epoch", lease_->epoch}});
  } catch (const db::DbError& error) {
    log::warn("lease.renew_failed", {{"error", error.what()}});
    renew_at_ns_ = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    try_again(held);
  }
}

// Like renew(), for one task.
void LeaseKeeper::renew_detached(std::unique_lock<std::mutex>& held, Running& running) {
  if (over_time(running, boot_ns()) && !mutant::removed("renewal_deadline")) {
    running.renew_at_ns = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    return;
  }
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    const queue::Claim mine = queue::claim(running.lease, *running.work->task).once_detached();
    if (!detached_store_.renew(*connection_, mine)) {
      return lose_task(running.lease, "renew_detached", running.work->entry);
    }
    trips_.add(boot_ns() - sent);
    running.renew_at_ns = sent + ttl_ns_ / 3;
    running.deadline_ns = deadline_after(sent);
    log::debug("lease.renewed", {{"task", mine.id.text()}, {"epoch", mine.epoch}});
  } catch (const db::DbError& error) {
    log::warn("lease.renew_failed", {{"error", error.what()}});
    running.renew_at_ns = boot_ns() + std::min(kTryAgain, ttl_ns_ / 10);
    try_again(held);
  }
}

// A detach whose reply is lost is sent again until its outcome is known, or the task ends.
void LeaseKeeper::detach(std::unique_lock<std::mutex>& held, Running& running) {
  try {
    connect_if_needed();
    const Nanos sent = boot_ns();
    const TaskAtWork& work = *running.work;
    any_detached_ = true;
    const queue::Claim claim = queue::claim(*lease_, *work.task);
    const auto fenced =
        work.beside ? detached_store_.detach_beside(*connection_, claim, work.attempt)
                    : detached_store_.detach(*connection_, claim, work.attempt, work.finished);
    if (fenced == queue::Fenced::kLost) return lose(*lease_, "detach");
    detached(running, sent);
  } catch (const db::DbError& error) {
    log::warn("task.detach_failed", {{"error", error.what()}});
    // The server answered with any other error, so it did nothing.
    if (error.error_class() == db::ErrorClass::kGone) running.place = Place::kUnknown;
    const bool transient =
        running.place == Place::kUnknown || error.error_class() == db::ErrorClass::kRetryable;
    running.detach_at_ns = boot_ns() + (transient ? kTryAgain : ttl_ns_);
    try_again(held);
  }
}

// A look that fails is repeated: nobody waits for it.
void LeaseKeeper::look_for_cancel(std::unique_lock<std::mutex>& held, Running& running) {
  CancelWatch& cancel = *running.work->cancel;
  try {
    connect_if_needed();
    cancel.look(*connection_, running.lease, *running.work->task,
                running.place == Place::kDetached);
  } catch (const db::DbError& error) {
    log::warn("task.cancel_look_failed", {{"error", error.what()}});
    cancel.try_later();
    try_again(held);
  }
}

void LeaseKeeper::detached(Running& running, Nanos sent_ns) {
  running.place = Place::kDetached;
  slot_.task_detached(running.work->entry);
  trips_.add(boot_ns() - sent_ns);
  running.renew_at_ns = sent_ns + ttl_ns_ / 3;
  running.deadline_ns = deadline_after(sent_ns);
  running.detached = true;
  if (!running.work->beside) {
    lease_.reset();
    deadline_ns_ = 0;
  }
  const queue::Claim now = queue::claim(running.lease, *running.work->task);
  log::info("task.detached", {{"task", now.id.text()},
                              {"type", running.work->task->type},
                              {"partition", running.lease.partition.partition_no},
                              {"after_ms", (boot_ns() - running.began_ns) / kMilli}});
  // Any worker may take its neighbours now.
  if (!running.work->beside) work_was_added(now.id.partition.queue_id);
}

}  // namespace allot::worker
