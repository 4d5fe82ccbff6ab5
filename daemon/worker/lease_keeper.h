// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "base/clock.h"
#include "db/connection.h"
#include "db/mutation.h"
#include "ipc/board.h"
#include "queue/detached_store.h"
#include "queue/lease_store.h"
#include "worker/cancel_watch.h"
#include "worker/round_trips.h"
#include "worker/slot_writer.h"

namespace allot::worker {

// The task that is about to run, as the keeper needs it. What it points to stays as it is until
// task_ended().
struct TaskAtWork {
  const queue::Task* task = nullptr;
  std::uint32_t attempt = 0;                    // its number, from 1
  std::span<const queue::Finished> finished{};  // of its block, not yet acknowledged
  Nanos detach_after_ns = 0;                    // 0: never
  CancelWatch* cancel = nullptr;                // none: nobody looks for requests to cancel it
};

// Where a task is that has run.
enum class Place {
  kPartition,  // under the lease of its partition
  kDetached,   // in task_running; nobody renews it any more
  kUnknown     // one of the two: a detach was sent and its reply was lost
};

// Renews the lease at a third of its TTL while tasks run, in a thread with a connection of its own,
// which is opened when a lease first lives that long. The same thread detaches a task that runs
// long (B12), because the main thread is inside the handler, and renews it from then on; and looks
// for requests to cancel it (B11).
//
// Block loop and keeper share one mutex (S1): releasing(), drop() and task_ended() wait for a
// renewal or a detach under way, so that no renewal meets a release that is answered in time. One
// that meets a later one finds the epoch ended, and nothing to renew.
class LeaseKeeper {
 public:
  LeaseKeeper(const queue::LeaseStore& store, const queue::DetachedStore& detached,
              db::ConnectOptions options, SlotWriter& slot, ipc::Board& board);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper();

  // Keeps `lease`, whose statement was sent at `sent_ns` (CLOCK_BOOTTIME).
  void hold(const queue::Lease& lease, Nanos sent_ns);
  // The release of the lease is sent from now on. The lease is renewed only should that take long,
  // until drop(); that it is gone then is no news.
  void releasing();
  void drop();
  // `verb` found `lease` gone: counted and logged, once for a lease, whoever finds it first. No
  // more renewals of it, and it is not valid() any more.
  void lose(const queue::Lease& lease, const char* verb);

  // Other workers may have something to do now.
  void work_was_added();

  // True while this process can be sure that nobody else may have the lease (S5).
  [[nodiscard]] bool valid() const {
    return (!lost_.load() && boot_ns() < deadline_ns_.load()) || db::without("lease_deadline");
  }
  [[nodiscard]] bool lost() const { return lost_.load(); }
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_.load(); }

  // A task past this moment (CLOCK_BOOTTIME) is not worth renewing for; 0 = none runs. From any
  // thread.
  void set_task_deadline(Nanos hard_deadline_ns) { task_deadline_ns_.store(hard_deadline_ns); }

  // Around each handler. `begun` is called with the moment at which it begins (CLOCK_BOOTTIME):
  // what the wait for a renewal under way took is not its time. It notes the task in the slot,
  // before the keeper may detach it (S9). False: the lease is in doubt, the handler must not be
  // called (S5), and nothing was noted.
  [[nodiscard]] bool task_begins(const TaskAtWork& work, const std::function<void(Nanos)>& begun);
  // Unless the task is still in its partition, the keeper then holds nothing.
  Place task_ended();

 private:
  void run();
  [[nodiscard]] bool over_time(Nanos now) const;
  [[nodiscard]] bool detach_is_due(Nanos now) const;
  [[nodiscard]] bool cancel_look_is_due(Nanos now) const;
  [[nodiscard]] Nanos next_look(Nanos now) const;
  void renew(std::unique_lock<std::mutex>& held);
  void detach(std::unique_lock<std::mutex>& held);
  void detached(Nanos sent_ns);
  void look_for_cancel(std::unique_lock<std::mutex>& held);
  void connect_if_needed();
  void try_again(std::unique_lock<std::mutex>& held);
  bool send_renewal();
  void set_deadline(Nanos sent_ns);

  const queue::LeaseStore& store_;
  const queue::DetachedStore& detached_store_;
  const db::ConnectOptions options_;
  const Nanos ttl_ns_;
  SlotWriter& slot_;
  ipc::Board& board_;

  std::atomic<bool> lost_{false};
  std::atomic<Nanos> deadline_ns_{0};
  std::atomic<Nanos> task_deadline_ns_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<queue::Lease> lease_;
  std::optional<TaskAtWork> work_;
  Nanos work_began_ns_ = 0;  // CLOCK_BOOTTIME
  Place place_ = Place::kPartition;
  Nanos renew_at_ns_ = 0;
  Nanos detach_at_ns_ = 0;  // not before; after one that failed
  RoundTrips trips_;
  bool releasing_ = false;
  bool stop_ = false;

  std::optional<db::Connection> connection_;  // the keeper thread's only
  std::thread thread_;                        // last: it uses all of the above
};

}  // namespace allot::worker
