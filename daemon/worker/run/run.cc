// SPDX-License-Identifier: Apache-2.0
#include "worker/run/run.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "plugin_host/abi_check.h"
#include "queue/model/error_text.h"

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
      cancel(in_nanos(in_queue.settings->cancel_grace)),
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
  cancel.begin(now);
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
  if (!cancel.asked() || at_ns < cancel.end_at()) return move_deadline(at_ns, by);
  move_deadline(cancel.end_at(), ipc::Limit::kCancel);
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

void Run::follow_cancel() noexcept {
  const MutexLock held(mutex_);
  if (cancelled() && cancel.end_at() < hard_ns_)
    move_deadline(cancel.end_at(), ipc::Limit::kCancel);
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
