// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "db/connection.h"
#include "queue/locks/lock.h"
#include "queue/locks/lock_store.h"
#include "queue/model/expired_holder_watch.h"
#include "queue/model/lease.h"

namespace allot::queue {

// When a ticket may try, and for which slot. Pure.
//
// The ticket with k live ones before it takes the slot that is the k-th of the free ones, so that
// those who try at once do not meet, and locks are handed over in the order of arrival. One of the
// oldest N that finds a slot free for longer goes first all the same: the one before it
// stands still.
class Turn {
 public:
  [[nodiscard]] std::optional<std::uint32_t> slot(const Line& line, Nanos now);
  // How long until the next look: up to 1 s for those further behind; for those whose turn may be
  // next a twentieth of the time since that is so, from 50 ms up to 1 s.
  [[nodiscard]] Nanos pause(const Line& line, Nanos now);

 private:
  static constexpr Nanos kPatience = 3 * kSecond;
  Nanos free_since_ns_ = 0;  // slots are free, and those before us do not take them; 0: not so
  Nanos next_since_ns_ = 0;  // it is one of the oldest N; 0: not so
};

// One wish for a lock, from its ticket until it is taken or given up. One thread; each call may
// come over another connection. After a db::DbError of class kGone or kRetryable look() may be
// called again, and takes no second slot.
class LockWait {
 public:
  // `holder` is a new one for each wish. `floor` outlives it.
  LockWait(LockSpec spec, Holder holder, TokenFloor& floor);

  // One round: draws or renews the ticket, looks, frees a slot whose holder stood still, and takes
  // one when it is its turn. `generation` is another number for each connection, from 1 on. Throws
  // Error(kExitBadInput) where the lock has another number of slots.
  std::optional<HeldLock> look(db::Connection& db, std::uint64_t generation);
  // When to call it again: CLOCK_BOOTTIME.
  [[nodiscard]] Nanos next_ns() const { return next_ns_; }
  // Whether to call it before, when somebody on this host has given the lock back or moved on: it
  // is one of the oldest N, or of as many behind them.
  [[nodiscard]] bool near() const { return near_; }
  // Leaves the line. A lock that was taken by a statement whose reply was lost is given back.
  void give_up(db::Connection& db);

 private:
  void stand_in_line(db::Connection& db, std::uint64_t generation, Nanos now);
  std::optional<HeldLock> take(db::Connection& db, std::uint32_t slot);
  void free_expired(db::Connection& db);

  LockSpec spec_;
  Holder holder_;
  TokenFloor& floor_;
  ExpiredHolderWatch<LockSlot, LockObservation> watched_;
  Turn turn_;
  std::uint64_t generation_ = 0;
  bool near_ = false;
  bool known_ = false;  // the lock has the slots that were asked for
  std::optional<std::uint64_t> ticket_;
  Nanos renewed_ns_ = 0;
  Nanos asked_ns_ = 0;  // of the first take whose reply was lost; 0: none is
  std::uint32_t asked_slot_ = 0;
  Nanos next_ns_ = 0;
};

}  // namespace allot::queue
