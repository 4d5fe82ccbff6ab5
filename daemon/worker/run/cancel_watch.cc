// SPDX-License-Identifier: Apache-2.0
#include "worker/run/cancel_watch.h"

#include <utility>

#include "log/log.h"
#include "queue/verbs/cancel_request.h"
#include "worker/run/run_log.h"

namespace allot::worker {
namespace {

constexpr Nanos kCancelPollEvery = 1000 * kMilli;

}  // namespace

void CancelWatch::begin(Nanos now) {
  next_poll_ = now + kCancelPollEvery;
}

void CancelWatch::try_later() {
  next_poll_ = boot_ns() + kCancelPollEvery;
}

void CancelWatch::poll(db::Connection& db, const queue::Lease& lease, const queue::Task& task) {
  try_later();
  if (!asked()) poll_in_partition(db, lease, task);
  if (asked()) on_asked_();
}

void CancelWatch::polled(const queue::Lease& lease, const queue::Task& task,
                         std::optional<queue::CancelRequest> found) {
  try_later();
  watched_ = true;
  if (found && !asked()) saw(lease, task, std::move(*found));
  if (asked()) on_asked_();
}

void CancelWatch::poll_in_partition(db::Connection& db, const queue::Lease& lease,
                                    const queue::Task& task) {
  // Marks the task once, whatever the reply: the mark may be set although its reply was lost, and a
  // cancel of a task without it is noticed as well.
  if (!std::exchange(watched_, true) && (task.flags & queue::kCancelWatchedFlag) == 0) {
    static_cast<void>(queue::watch_cancel(db, lease, task));
  }
  auto found = queue::check_cancel(db, lease, task);
  if (found.request) return saw(lease, task, std::move(*found.request));
  // It was cancelled in its first second, when it looked like a waiting task.
  if (!found.there) saw(lease, task, {"it was cancelled while it ran", {}});
}

void CancelWatch::saw(const queue::Lease& lease, const queue::Task& task,
                      queue::CancelRequest request) {
  request_ = std::move(request);
  end_at_ = boot_ns() + grace_ns_;
  const queue::TaskId id{lease.partition, task.key.prio, task.id_key()};
  log::info("task.cancel_requested", {{"task", id.text()},
                                      trace_field(task),
                                      {"reason", request_.reason},
                                      {"grace_ms", grace_ns_ / kMilli}});
}

}  // namespace allot::worker
