// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/cancel_request.h"

namespace allot::worker {

// Watches for a request to cancel one running task. Its keeper polls once a second when the task
// has run for one second, so that a short task costs nothing. Members belong to the keeper, under
// its mutex, unless noted.
class CancelWatch {
 public:
  explicit CancelWatch(Nanos grace_ns) : grace_ns_(grace_ns) {}

  void begin(Nanos now);
  [[nodiscard]] Nanos next_poll() const { return next_poll_; }
  // Polls for a task in its partition. Throws db::DbError.
  void poll(db::Connection& db, const queue::Lease& lease, const queue::Task& task);
  // Takes the result of a poll for a detached task.
  void polled(const queue::Lease& lease, const queue::Task& task,
              std::optional<queue::CancelRequest> found);
  void try_later();

  // Any thread may call it.
  [[nodiscard]] bool asked() const { return end_at_.load() != 0; }
  // Time by which the handler has to end (CLOCK_BOOTTIME); 0: no request.
  [[nodiscard]] Nanos end_at() const { return end_at_.load(); }

  // Valid once the handler has returned and the keeper knows it.
  [[nodiscard]] const queue::CancelRequest& request() const { return request_; }
  [[nodiscard]] bool watched() const { return watched_; }

 private:
  const Nanos grace_ns_;
  Nanos next_poll_ = 0;
  bool watched_ = false;          // a request may be there
  queue::CancelRequest request_;  // written before end_at_
  std::atomic<Nanos> end_at_{0};
};

}  // namespace allot::worker
