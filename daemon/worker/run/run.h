// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mutant.h"
#include "db/connection.h"
#include "peer/slot_file.h"
#include "plugin_host/registry.h"
#include "process/slot_writer.h"
#include "queue/model/fence.h"
#include "queue/model/task.h"
#include "queue/verbs/block.h"
#include "queue/verbs/cancel_request.h"
#include "thread/mutex.h"
#include "worker/run/served_queue.h"

namespace allot::worker {

inline constexpr Nanos kCancelPollEvery = kSecond;

// The last lines that a handler logged, for the record of a failed attempt (S81). The threads of
// the handler add lines; the thread that runs the task reads them. Never throws: a line without
// memory is left out.
class LogTail {
 public:
  static constexpr std::size_t kMostLines = 64;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 10;

  void add(std::string_view level, std::string_view text) noexcept;
  // "warn the logged text\n", line by line.
  [[nodiscard]] std::string text() const;

 private:
  mutable Mutex mutex_;
  std::deque<std::string> lines_ ALLOT_GUARDED_BY(mutex_);
  std::size_t bytes_ ALLOT_GUARDED_BY(mutex_) = 0;
};

// Deadlines of a run. Times are CLOCK_BOOTTIME.
struct TaskLimits {
  Nanos soft_ns = 0;            // stop_requested is true from then on
  Nanos time_ns = 0;            // its time limit
  Nanos progress_every_ns = 0;  // promised by its handler; 0: none

  struct Hard {
    Nanos at_ns;
    ipc::Limit by;
  };
  // Deadline of a run that made progress at `now`: its time limit, or earlier if its handler
  // promised progress (B3).
  [[nodiscard]] Hard hard(Nanos now) const {
    const Nanos silent_until = now + progress_every_ns;
    if (progress_every_ns == 0 || silent_until >= time_ns) return {time_ns, ipc::Limit::kTime};
    return {silent_until, ipc::Limit::kProgress};
  }
};

// A lease as its keeper knows it: of a partition, or of a detached task.
struct KeptLease {
  // Any thread may read these.
  std::atomic<bool> lost{false};
  std::atomic<Nanos> deadline_ns{0};
  Nanos renew_at_ns = 0;  // protected by the keeper's mutex

  // True while this process is sure that no other process can have it (S5), and for `margin` more.
  [[nodiscard]] bool valid(Nanos margin = 0) const {
    return (!lost.load() && boot_ns() + margin < deadline_ns.load()) ||
           mutant::removed("lease_deadline");
  }
};

// A task at work: one attempt, from its number to its verdict. Its state is in the slot
// (ipc::RunState), for the processes that judge or heal it. The thread that runs the task makes the
// object and is its only user, unless noted: the lease keeper knows it from LeaseKeeper's begin()
// to its end(), and the threads of its handler call progress(), valid() and the like.
class Run {
 public:
  // Place of the task after its handler has returned.
  enum class Place {
    kPartition,  // under the lease of its partition
    kDetached,   // in task_running, no longer renewed
    kUnknown     // one of the two: a detach was sent and its reply was lost
  };
  struct Plan {
    const plugin_host::LoadedHandler* handler = nullptr;  // nullptr: no attempt begins
    std::uint32_t most = 0;                               // limit of attempts
    std::size_t entry = 0;                                // index in the slot
    bool sole = true;                                     // see Job
    std::chrono::milliseconds time_limit{0};
  };
  // All arguments outlive the run.
  Run(process::SlotWriter& slot, const queue::Lease& lease, const ServedQueue& queue,
      queue::Task& task, const Plan& plan);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  // If an exception ends the run before its verdict, this worker leaves: if the database knows of
  // the attempt, the slot then says that it is to be taken back.
  ~Run();

  const queue::Lease& lease;  // in which it began
  const ServedQueue& queue;
  queue::Task& task;
  const Plan plan;
  const std::string id;
  const std::uint32_t number;           // of the attempt, from 1
  queue::Fence fence;                   // place of the task, as far as the running thread knows
  bool announced = false;               // its attempt was written before it ran (S7)
  queue::Usage usage{};                 // of the handler, if the result is kept or logged
  std::chrono::microseconds waited{0};  // from the time that it was due until its start

  // Runtime after which it leaves its partition; 0: never. Set it before begin().
  Nanos detach_after_ns = 0;

  // For log, metrics and minutes: its label, if it has one.
  [[nodiscard]] std::string_view shown_type() const;

  void announce();
  // Marks the call of its handler; the keeper calls it, under its mutex.
  void begin(Nanos now);
  [[nodiscard]] Nanos began_ns() const { return began_ns_; }
  [[nodiscard]] Nanos soft_deadline_ns() const { return limits_.soft_ns; }
  // Marks the return of its handler: the time of the database for the verdict does not count as the
  // task's. `valid`: whether its lease is.
  void returned(bool valid);
  [[nodiscard]] Nanos ran_ns() const { return returned_ns_ - began_ns_; }
  [[nodiscard]] bool has_returned() const { return returned_ns_ != 0; }
  [[nodiscard]] bool was_valid() const { return was_valid_; }
  // It has left its partition; the keeper's thread may call it, too.
  void detach() { mark(process::RunEvent::kDetach); }
  void finish() { mark(process::RunEvent::kFinish); }
  void refund() { mark(process::RunEvent::kRefund); }
  // Its result is written. Does nothing for a run that is over, or was never in the slot.
  void end() { mark(process::RunEvent::kEnd); }

  // Any thread may use these.
  LogTail said;
  void progress(Nanos now) noexcept;
  // Shows it in the slot; for a detached task the keeper writes it with a renewal.
  void show_progress(std::uint32_t percent, std::string_view word) noexcept;
  [[nodiscard]] queue::Progress shown_progress() const;
  // The shown progress was not written yet.
  [[nodiscard]] bool has_new_progress() const {
    return progress_version() != keeping.written_progress;
  }
  // Changes with each call of show_progress().
  [[nodiscard]] std::uint32_t progress_version() const { return shown_.load(); }
  [[nodiscard]] bool cancelled() const noexcept { return cancel_at_ns_.load() != 0; }
  [[nodiscard]] bool detached() const noexcept {
    return peer::is_detached(slot_.state(plan.entry));
  }
  [[nodiscard]] bool over_time(Nanos now) const {
    if (!ipc::in_handler(slot_.state(plan.entry))) return false;
    const Nanos deadline = slot_.hard_deadline_ns(plan.entry);
    return deadline != 0 && now >= deadline;
  }

  // Requests for its end (B11). For the keeper, under its mutex: it polls once a second when the
  // task has run for one second, so that a short task costs nothing.
  // Polls for a task in its partition. Throws db::DbError.
  void poll_cancel(db::Connection& db);
  // Takes the result of a poll: a request is also a deadline.
  void cancel_polled(std::optional<queue::CancelRequest> found);

  // State of the lease keeper. The lease is the one of a detached task.
  struct Keeping : KeptLease {
    // Protected by the keeper's mutex.
    Place place = Place::kPartition;
    Nanos detach_at_ns = 0;              // time of the next attempt to detach, after a failure
    Nanos renewed_ns = 0;                // time of the detach or of the last renewal
    std::uint32_t written_progress = 0;  // the written value of shown_
    Nanos next_cancel_poll_ns = 0;
    bool cancel_watched = false;    // a request may be there
    queue::CancelRequest cancel{};  // if cancelled(); constant from then on
  };
  Keeping keeping;

 private:
  void mark(process::RunEvent event) {
    if (in_slot_) slot_.mark(plan.entry, event);
  }
  void enter_slot();
  void move_deadline(Nanos at_ns, ipc::Limit by) noexcept ALLOT_REQUIRES(mutex_);

  process::SlotWriter& slot_;
  bool in_slot_ = false;
  TaskLimits limits_{};
  Nanos began_ns_ = 0;
  Nanos returned_ns_ = 0;
  bool was_valid_ = false;
  std::atomic<Nanos> cancel_at_ns_{0};  // by then its handler has to end; 0: no request
  mutable Mutex mutex_;
  Nanos hard_ns_ ALLOT_GUARDED_BY(mutex_) = 0;
  queue::Progress progress_ ALLOT_GUARDED_BY(mutex_);
  std::atomic<std::uint32_t> shown_{0};  // number of changes of progress_
};

using Place = Run::Place;

}  // namespace allot::worker
