// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "base/clock.h"
#include "base/mutant.h"
#include "db/connection.h"
#include "ipc/board.h"
#include "queue/detached_store.h"
#include "queue/lease_store.h"
#include "worker/cancel_watch.h"
#include "worker/round_trips.h"
#include "worker/slot_writer.h"

namespace allot::worker {

// The task that is about to run, as the keeper needs it. Objects that it points to stay as they are
// until task_ended().
struct TaskAtWork {
  const queue::Task* task = nullptr;
  std::uint32_t attempt = 0;                    // its number, from 1
  std::span<const queue::Finished> finished{};  // tasks of its block, not yet acknowledged
  Nanos detach_after_ns = 0;                    // 0: never
  std::size_t entry = 0;                        // its index among running tasks, as in the slot
  // True: other tasks of its partition run beside it, and they and the lease stay when it is
  // detached. Else the lease ends with it, and the finished tasks are acknowledged.
  bool beside = false;
  CancelWatch* cancel = nullptr;  // nullptr: nobody looks for requests to cancel it
};

// Where a task is after its run.
enum class Place {
  kPartition,  // under the lease of its partition
  kDetached,   // in task_running, not renewed any more
  kUnknown     // one of the two: a detach was sent and its reply was lost
};

// Renews the lease at a third of its TTL while tasks run, in a thread with a connection of its own,
// which it opens when a lease first lives that long. The same thread detaches tasks that run long
// (B12), because the main thread may be inside a handler, and renews each of them from then on; it
// also looks for requests to cancel them (B11).
//
// Block loop and keeper share one mutex (S1): releasing(), drop() and task_ended() wait for a
// renewal or a detach under way, so that no renewal overlaps a release that is answered in time. A
// renewal that overlaps a later one finds the epoch ended, and nothing to renew.
class LeaseKeeper {
 public:
  LeaseKeeper(const queue::LeaseStore& store, const queue::DetachedStore& detached,
              db::ConnectOptions options, SlotWriter& slot, ipc::Board& board);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper();

  // Keeps `lease`, whose statement was sent at `sent_ns` (CLOCK_BOOTTIME).
  void hold(const queue::Lease& lease, Nanos sent_ns);
  // From now on the release of the lease is under way. The keeper renews the lease only if that
  // takes long, until drop(); that the lease is gone then is no news.
  void releasing();
  void drop();
  // `verb` found `lease` gone. The keeper counts and logs this once for a lease, whoever finds it
  // first; it renews the lease no more, and valid() is false.
  void lose(const queue::Lease& lease, const char* verb);

  // The same for a task that was detached from `lease`: the lease in hand may be another one.
  void lose_task(const queue::Lease& lease, const char* verb, std::size_t entry = 0);

  // Other workers may have something to do in the queue now.
  void work_was_added(std::uint32_t queue_id);

  // True while this process can be sure that nobody else may have the lease (S5).
  [[nodiscard]] bool valid() const {
    return (!lost_.load() && boot_ns() < deadline_ns_.load()) || mutant::removed("lease_deadline");
  }
  // The same for a running task: its partition's lease is valid, or its own once it is detached.
  [[nodiscard]] bool task_valid(std::size_t entry = 0) const;
  [[nodiscard]] bool lost() const { return lost_.load(); }
  [[nodiscard]] Nanos deadline_ns() const { return deadline_ns_.load(); }

  // The keeper does not renew for a task past this moment (CLOCK_BOOTTIME); 0 = none runs. Any
  // thread may call this.
  void set_task_deadline(Nanos hard_deadline_ns, std::size_t entry = 0) {
    tasks_[entry].hard_deadline_ns = hard_deadline_ns;
  }

  // Call these around each handler. `begun` gets the moment at which the handler begins
  // (CLOCK_BOOTTIME), so that the wait for a renewal under way does not count as its time. It notes
  // the task in the slot, before the keeper may detach it (S9). False: the lease is in doubt, or is
  // about to be because its renewal is overdue; the handler must not be called (S5), and nothing
  // was noted.
  [[nodiscard]] bool task_begins(const TaskAtWork& work, const std::function<void(Nanos)>& begun) {
    return tasks_begin({&work, 1}, begun);
  }
  // The same for tasks that one call of a handler gets: all begin at the same moment, so that none
  // of them is over its time before the others. `begun` is called once.
  [[nodiscard]] bool tasks_begin(std::span<const TaskAtWork> works,
                                 const std::function<void(Nanos)>& begun);
  Place task_ended(std::size_t entry = 0);

  // The last call, if it had no reply, may still be executing: `db` ends it.
  void end_last_call(db::Connection& db);

  // Whether a task left its partition under the lease in hand, or may have.
  [[nodiscard]] bool any_detached() const { return any_detached_.load(); }
  // For a running task: the keeper is done with its partition.
  [[nodiscard]] bool is_detached(std::size_t entry) const { return tasks_[entry].detached.load(); }
  // Threads of this worker are idle: a task that runs for a while makes room, as when workers are
  // idle.
  void make_room(bool wanted) { make_room_ = wanted; }

 private:
  // A running task, at the same index as in the slot.
  struct Running {
    std::atomic<Nanos> hard_deadline_ns{0};
    std::atomic<bool> detached{false};  // from then on it is valid() until:
    std::atomic<bool> lost{false};
    std::atomic<Nanos> deadline_ns{0};
    // Guarded by mutex_.
    std::optional<TaskAtWork> work{};
    queue::Lease lease{};  // the lease under which it began
    Nanos began_ns = 0;    // CLOCK_BOOTTIME
    Place place = Place::kPartition;
    Nanos detach_at_ns = 0;  // no earlier detach, after one that failed
    Nanos renew_at_ns = 0;   // for a detached task
  };

  void run();
  [[nodiscard]] bool may_begin(Nanos now) const;
  [[nodiscard]] static bool over_time(const Running& running, Nanos now);
  [[nodiscard]] bool over_time(Nanos now) const;
  [[nodiscard]] bool detach_is_due(const Running& running, Nanos now) const;
  [[nodiscard]] bool lease_is_due(Nanos now) const;
  [[nodiscard]] static bool renewal_is_due(const Running& running, Nanos now);
  [[nodiscard]] bool looks_for_cancel(const Running& running, Nanos now) const;
  [[nodiscard]] bool cancel_look_is_due(const Running& running, Nanos now) const;
  void look_for_cancel(std::unique_lock<std::mutex>& held, Running& running);
  [[nodiscard]] bool act(std::unique_lock<std::mutex>& held);
  void wait(std::unique_lock<std::mutex>& held);
  void renew(std::unique_lock<std::mutex>& held);
  void renew_detached(std::unique_lock<std::mutex>& held, Running& running);
  void detach(std::unique_lock<std::mutex>& held, Running& running);
  void detached(Running& running, Nanos sent_ns);
  void note_loss(const queue::Lease& lease, const char* verb);
  void connect_if_needed();
  void try_again(std::unique_lock<std::mutex>& held);
  [[nodiscard]] Nanos deadline_after(Nanos sent_ns) const;

  const queue::LeaseStore& store_;
  const queue::DetachedStore& detached_store_;
  const db::ConnectOptions options_;
  const Nanos ttl_ns_;
  SlotWriter& slot_;
  ipc::Board& board_;

  std::atomic<bool> lost_{false};
  std::atomic<Nanos> deadline_ns_{0};
  std::atomic<bool> any_detached_{false};
  std::atomic<bool> make_room_{false};
  std::array<Running, ipc::kMaxRunning> tasks_{};
  std::size_t most_ = 1;  // entries that were ever used; guarded by mutex_

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<queue::Lease> lease_;
  Nanos renew_at_ns_ = 0;
  RoundTrips trips_;
  bool releasing_ = false;
  bool stop_ = false;

  std::optional<db::Connection> connection_;  // only the keeper thread uses it
  std::thread thread_;                        // last: it uses all of the above
};

}  // namespace allot::worker
