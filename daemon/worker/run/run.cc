// SPDX-License-Identifier: Apache-2.0
#include "worker/run/run.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "log/log.h"
#include "plugin_host/abi_check.h"
#include "queue/model/error_text.h"
#include "worker/run/run_log.h"

namespace allot::worker {
Run::Run(process::SlotWriter& slot, const queue::Lease& in_lease, const ServedQueue& in_queue,
         queue::Task& of, const Plan& by)
    : lease(in_lease),
      queue(in_queue),
      task(of),
      plan(by),
      id(queue::TaskId{in_lease.partition, of.key.prio, of.id_key()}.text()),
      number(of.attempt + 1),
      fence(queue::fence(in_lease, of)),
      slot_(slot) {}

Run::~Run() {
  const bool known = announced || detached();
  if (std::uncaught_exceptions() == 0 || !known) {
    end();
    return;
  }
  mark(process::RunEvent::kReturn);
  refund();
}

std::string_view Run::shown_type() const {
  return task.headers.label.empty() ? std::string_view(task.type) : task.headers.label;
}

void Run::enter_slot() {
  slot_.name_run(plan.entry, lease.partition, queue.info.name, task, number, plan.most);
  in_slot_ = true;
}

void Run::announce() {
  announced = true;
  enter_slot();
  mark(process::RunEvent::kAnnounce);
}

void Run::begin(Nanos now) {
  if (!in_slot_) enter_slot();
  began_ns_ = now;
  limits_ = {
      now + in_nanos(config::soft_task_timeout(plan.time_limit)), now + in_nanos(plan.time_limit),
      plan.handler == nullptr ? 0 : in_nanos(plugin_host::progress_every(*plan.handler->handler))};
  keeping.next_cancel_poll_ns = now + kCancelPollEvery;
  const auto [at_ns, by] = limits_.hard(now);
  const MutexLock held(mutex_);
  hard_ns_ = at_ns;
  slot_.set_deadlines(plan.entry, limits_.soft_ns, at_ns, by);
  mark(process::RunEvent::kBegin);
}

void Run::returned(bool valid) {
  returned_ns_ = boot_ns();
  was_valid_ = valid;
  mark(process::RunEvent::kReturn);
}

void Run::progress(Nanos now) noexcept {
  slot_.beat();
  if (limits_.progress_every_ns == 0) return;
  const MutexLock held(mutex_);
  const auto [at_ns, by] = limits_.hard(now);
  if (!cancelled() || at_ns < cancel_at_ns_) return move_deadline(at_ns, by);
  move_deadline(cancel_at_ns_, ipc::Limit::kCancel);
}

void Run::show_progress(std::uint32_t percent, std::string_view word) noexcept {
  try {
    queue::Progress now{std::min(percent, 100U),
                        queue::error_text(word, queue::Progress::kMostWord)};
    const MutexLock held(mutex_);
    slot_.show_progress(plan.entry, *now.percent, now.word);
    progress_ = std::move(now);
    ++shown_;
  } catch (const std::bad_alloc&) {  // only shown to people
  }
}

queue::Progress Run::shown_progress() const {
  const MutexLock held(mutex_);
  return progress_;
}

void Run::poll_cancel(db::Connection& db) {
  if (cancelled()) return cancel_polled({});
  // Marks the task once, whatever the reply: the mark may be set although its reply was lost, and a
  // cancel of a task without it is noticed as well.
  if (!std::exchange(keeping.cancel_watched, true) &&
      (task.flags & queue::kCancelWatchedFlag) == 0) {
    static_cast<void>(queue::watch_cancel(db, lease, task));
  }
  auto found = queue::check_cancel(db, lease, task);
  // It was cancelled in its first second, when it looked like a waiting task.
  if (!found.request && !found.there) found.request = {"it was cancelled while it ran", {}};
  cancel_polled(std::move(found.request));
}

void Run::cancel_polled(std::optional<queue::CancelRequest> found) {
  keeping.next_cancel_poll_ns = boot_ns() + kCancelPollEvery;
  keeping.cancel_watched = true;
  if (found && !cancelled()) {
    const Nanos grace = in_nanos(queue.settings->cancel_grace);
    keeping.cancel = std::move(*found);
    cancel_at_ns_ = boot_ns() + grace;
    log::info("task.cancel_requested", {{"task", id},
                                        trace_field(task),
                                        {"reason", keeping.cancel.reason},
                                        {"grace_ms", grace / kMilli}});
  }
  const MutexLock held(mutex_);
  if (cancelled() && cancel_at_ns_ < hard_ns_) move_deadline(cancel_at_ns_, ipc::Limit::kCancel);
}

void Run::move_deadline(Nanos at_ns, ipc::Limit by) noexcept {
  hard_ns_ = at_ns;
  slot_.move_deadline(plan.entry, at_ns, by);
}

// A line that is too long keeps its beginning.
void LogTail::add(std::string_view level, std::string_view text) noexcept {
  try {
    std::string line(level);
    line.append(1, ' ').append(text.substr(0, kMostBytes - level.size() - 2)).append(1, '\n');
    const MutexLock held(mutex_);
    bytes_ += line.size();
    lines_.push_back(std::move(line));
    while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
    }
  } catch (const std::bad_alloc&) {
  }
}

std::string LogTail::text() const {
  const MutexLock held(mutex_);
  std::string all;
  all.reserve(bytes_);
  for (const std::string& line : lines_) all += line;
  return all;
}

}  // namespace allot::worker
