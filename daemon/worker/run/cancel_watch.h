// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"
#include "queue/verbs/cancel_request.h"

namespace allot::worker {

// Finds out whether somebody asked for the end of one running task. Its keeper looks each second
// once the task has run for one, so that a short task costs nothing. Members belong to the keeper,
// under its mutex, unless said otherwise.
class CancelWatch {
 public:
  // Calls `asked` when it sees a request, and with each look from then on.
  CancelWatch(Nanos grace_ns, std::function<void()> asked)
      : grace_ns_(grace_ns), on_asked_(std::move(asked)) {}

  void begin(Nanos now);
  [[nodiscard]] Nanos next_look() const { return next_look_; }
  // Of a task in its partition. Throws db::DbError.
  void look(db::Connection& db, const queue::Lease& lease, const queue::Task& task);
  // Of a detached one, with what was found for it.
  void looked(const queue::Lease& lease, const queue::Task& task,
              std::optional<queue::CancelRequest> found);
  void try_later();

  // From any thread.
  [[nodiscard]] bool asked() const { return end_at_.load() != 0; }
  // When the handler has to be at its end (CLOCK_BOOTTIME); 0: nobody asked.
  [[nodiscard]] Nanos end_at() const { return end_at_.load(); }

  // Valid once the handler has returned and the keeper knows it.
  [[nodiscard]] const queue::CancelRequest& request() const { return request_; }
  [[nodiscard]] bool watched() const { return watched_; }

 private:
  void look_in_partition(db::Connection& db, const queue::Lease& lease, const queue::Task& task);
  void saw(const queue::Lease& lease, const queue::Task& task, queue::CancelRequest request);

  const Nanos grace_ns_;
  const std::function<void()> on_asked_;
  Nanos next_look_ = 0;
  bool watched_ = false;          // a request may be there
  queue::CancelRequest request_;  // written before end_at_
  std::atomic<Nanos> end_at_{0};
};

}  // namespace allot::worker
