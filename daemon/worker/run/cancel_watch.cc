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
  if (asked()) return polled(lease, task, {});
  // Marks the task once, whatever the reply: the mark may be set although its reply was lost, and a
  // cancel of a task without it is noticed as well.
  if (!std::exchange(watched_, true) && (task.flags & queue::kCancelWatchedFlag) == 0) {
    static_cast<void>(queue::watch_cancel(db, lease, task));
  }
  auto found = queue::check_cancel(db, lease, task);
  // It was cancelled in its first second, when it looked like a waiting task.
  if (!found.request && !found.there) found.request = {"it was cancelled while it ran", {}};
  polled(lease, task, std::move(found.request));
}

void CancelWatch::polled(const queue::Lease& lease, const queue::Task& task,
                         std::optional<queue::CancelRequest> found) {
  try_later();
  watched_ = true;
  if (!found || asked()) return;
  request_ = std::move(*found);
  end_at_ = boot_ns() + grace_ns_;
  const queue::TaskId id{lease.partition, task.key.prio, task.id_key()};
  log::info("task.cancel_requested", {{"task", id.text()},
                                      trace_field(task),
                                      {"reason", request_.reason},
                                      {"grace_ms", grace_ns_ / kMilli}});
}

}  // namespace allot::worker
