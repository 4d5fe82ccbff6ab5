// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "db/connection.h"
#include "ipc/board.h"
#include "peer/doorbell.h"
#include "process/session.h"
#include "process/slot_writer.h"
#include "queue/verbs/detached_store.h"
#include "queue/verbs/ending.h"
#include "queue/verbs/lease_store.h"
#include "thread/mutex.h"
#include "worker/run/run.h"

namespace allot::worker {

// Duration of recent statements that took or renewed a lease: a slow answer counts for the next
// kRemembered calls, not forever.
class RoundTrips {
 public:
  static constexpr std::size_t kRemembered = 16;

  void add(Nanos trip) { last_[next_++ % kRemembered] = trip; }
  [[nodiscard]] Nanos slowest() const { return *std::max_element(last_.begin(), last_.end()); }

 private:
  std::array<Nanos, kRemembered> last_{};
  std::size_t next_ = 0;
};

// How much earlier than the lease itself its holder stops relying on it. The measured part covers a
// slow way to the database; the tenth of the TTL covers clocks that run at different rates and a
// supervisor that kills at the deadline. Half of the TTL at most, because renewals come at a third.
inline Nanos lease_margin(Nanos ttl, const RoundTrips& trips) {
  return std::min(ttl / 2, ttl / 10 + trips.slowest());
}

// Renews the lease at a third of its TTL while tasks run, in a thread with its own connection,
// which it opens when a lease first lasts that long. The same thread detaches long tasks (B12),
// because the main thread may be inside a handler, and renews each of them from then on; it also
// polls for requests to cancel them (B11).
//
// The threads that run tasks and the keeper share one mutex (S1): releasing(), drop() and end()
// wait for a renewal or a detach under way, so that no renewal overlaps a release that is answered
// in time. A renewal that overlaps a later release finds the epoch ended, and nothing to renew. If
// the keeper is always busy, because many tasks run long and the database is far away, it gives the
// waiting threads their turn after each round trip.
class LeaseKeeper {
 public:
  LeaseKeeper(const queue::LeaseStore& store, const queue::DetachedStore& detached,
              db::ConnectOptions options, process::SlotWriter& slot, ipc::Board& board);
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;
  ~LeaseKeeper();

  // Keeps `lease`, whose statement was sent at `sent_ns` (CLOCK_BOOTTIME).
  void keep(const queue::Lease& lease, Nanos sent_ns);
  // Announces the release of the lease. Until drop(), the keeper renews the lease only if the
  // release takes long, and does not report it as lost.
  void releasing();
  void drop();
  // `verb` found `lease` gone. The keeper counts and logs this once per lease, whichever thread
  // found it first; it stops renewing the lease, and valid() is false.
  void lose(const queue::Lease& lease, const char* verb) { lose(kept_, lease, verb); }

  // The same for a run whose task was detached: the lease in hand may be another one.
  void lose(Run& run, const char* verb) { lose(run.keeping, run.lease, verb); }

  // Wakes the workers of this host.
  [[nodiscard]] peer::Ringer ringer() const { return peer::Ringer(board_); }

  // True while this process is sure that no other process can have the lease (S5).
  [[nodiscard]] bool valid() const { return kept_.valid(); }
  // The same for a run: its partition's lease is valid, or its own once it is detached.
  [[nodiscard]] bool valid(const Run& run) const {
    return run.detached() ? run.keeping.valid() : valid();
  }
  [[nodiscard]] bool lost() const { return kept_.lost.load(); }
  [[nodiscard]] Nanos deadline_ns() const { return kept_.deadline_ns.load(); }

  // Call these around each handler. begin() starts the runs of one handler call at the same moment,
  // so that the wait for a renewal under way does not count as their time; they are in the slot
  // before the keeper may detach them (S9). The keeper does not renew for a run past its deadline.
  // False: the lease is uncertain, or is about to be because its renewal is overdue; the handler
  // must not be called (S5), and nothing started.
  [[nodiscard]] bool begin(std::span<Run* const> runs);
  // The keeper no longer uses the run when this returns.
  Place end(Run& run);

  // The last call, if it had no reply, may still be executing: `db` ends it.
  void end_last_call(db::Connection& db);

  // Whether a task left its partition under the lease in hand, or may have.
  [[nodiscard]] bool any_detached() const { return any_detached_.load(); }
  // Threads of this worker are idle: a long task makes room, as it does for idle workers.
  void make_room(bool wanted) { make_room_ = wanted; }

 private:
  // The mutex, for other threads than the keeper's. It first announces the wish, or the keeper
  // would mostly have the mutex again before the thread wakes.
  class ALLOT_SCOPED_CAPABILITY Turn {
   public:
    explicit Turn(LeaseKeeper& keeper) ALLOT_ACQUIRE(keeper.mutex_) ALLOT_NO_THREAD_SAFETY_ANALYSIS;
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() ALLOT_RELEASE() ALLOT_NO_THREAD_SAFETY_ANALYSIS;

   private:
    LeaseKeeper& keeper_;
    std::optional<MutexLock> held_;
  };
  void run();
  void give_turns();
  [[nodiscard]] bool over_time(Nanos now) const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool detach_is_due(const Run& run, Nanos now) const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool lease_is_due(Nanos now) const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] static bool renewal_is_due(const Run& run, Nanos now);
  [[nodiscard]] bool polls_for_cancel(const Run& run, Nanos now) const ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool poll_for_cancels(Nanos now) ALLOT_REQUIRES(mutex_);
  [[nodiscard]] bool act() ALLOT_REQUIRES(mutex_);
  void wait() ALLOT_REQUIRES(mutex_);
  template <typename Statement>
  bool renew(KeptLease& kept, bool over_time, Statement&& statement) ALLOT_REQUIRES(mutex_);
  void renew_lease() ALLOT_REQUIRES(mutex_);
  void renew_detached(Run& run) ALLOT_REQUIRES(mutex_);
  void detach(Run& run) ALLOT_REQUIRES(mutex_);
  void detached(Run& run, Nanos sent_ns) ALLOT_REQUIRES(mutex_);
  void drop_lease() ALLOT_REQUIRES(mutex_);
  void lose(KeptLease& kept, const queue::Lease& lease, const char* verb);
  void connect_if_needed();
  // A statement that was sent at `sent_ns` took or renewed it.
  void renewed(KeptLease& kept, Nanos sent_ns) ALLOT_REQUIRES(mutex_);

  const queue::LeaseStore& store_;
  const queue::DetachedStore& detached_store_;
  const db::ConnectOptions options_;
  const Nanos ttl_ns_;
  process::SlotWriter& slot_;
  ipc::Board& board_;

  KeptLease kept_;  // the lease of the partition
  std::atomic<bool> any_detached_{false};
  std::atomic<bool> make_room_{false};

  std::atomic<std::uint32_t> wanted_{0};     // number of turns that are wanted or in use
  std::atomic<std::uint32_t> had_turns_{0};  // number of turns that have ended
  Mutex mutex_;
  CondVar changed_;
  std::vector<Run*> runs_ ALLOT_GUARDED_BY(mutex_);  // runs in their handlers
  std::optional<queue::Lease> lease_ ALLOT_GUARDED_BY(mutex_);
  RoundTrips trips_ ALLOT_GUARDED_BY(mutex_);
  bool releasing_ ALLOT_GUARDED_BY(mutex_) = false;
  bool stop_ ALLOT_GUARDED_BY(mutex_) = false;

  std::optional<db::Connection> connection_;  // only the keeper thread uses it
  std::jthread thread_;                       // last: it uses all members above
};

// A fenced write of the block loop. False: `lease` was gone and nothing changed. The keeper then
// knows it too, so that the worker drops the rest of the block. `verb` is for the log.
template <typename Write>
[[nodiscard]] bool fenced(process::Session& session, LeaseKeeper& keeper, const queue::Lease& lease,
                          const char* verb, Write&& write) {
  if (session.call(write) == queue::Fenced::kWritten) return true;
  keeper.lose(lease, verb);
  return false;
}

}  // namespace allot::worker
