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

// Decides when a ticket may try to take a slot, and which one. Pure.
//
// A ticket with k live tickets before it takes the k-th free slot, so that concurrent tries do not
// collide and locks are handed over in the order of arrival. One of the oldest N tickets that sees
// a slot free for longer goes first all the same: the ticket before it makes no progress.
class Turn {
 public:
  [[nodiscard]] std::optional<std::uint32_t> slot(const Line& line, Nanos now);
  // Time until the next read: up to 1 s for tickets further back; for tickets that may be next, a
  // twentieth of the time since then, between 50 ms and 1 s.
  [[nodiscard]] Nanos delay(const Line& line, Nanos now);

 private:
  static constexpr Nanos kPatience = 3 * kSecond;
  Nanos free_since_ns_ = 0;  // slots are free and tickets before ours do not take them; 0: not so
  Nanos next_since_ns_ = 0;  // this ticket is one of the oldest N; 0: not so
};

// One request for a lock, from its ticket until it is taken or given up. One thread; each call may
// use another connection. After a db::DbError of class kGone or kRetryable poll() may be called
// again and takes no second slot.
class LockWait {
 public:
  // `holder` is new for each request. `floor` outlives it.
  LockWait(LockSpec spec, Holder holder, TokenFloor& floor);

  // One round: draws or renews the ticket, reads the line, frees a slot of a silent holder, and
  // takes a slot if it is the ticket's turn. `generation` is another number for each connection,
  // from 1. Throws Error(kExitBadInput) if the lock has another number of slots.
  std::optional<HeldLock> poll(db::Connection& db, std::uint64_t generation);
  // When to call poll() again: CLOCK_BOOTTIME.
  [[nodiscard]] Nanos next_ns() const { return next_ns_; }
  // Whether to call it earlier if the lock was released or the line advanced on this host: the
  // ticket is one of the oldest N, or of the N after them.
  [[nodiscard]] bool near() const { return near_; }
  // Leaves the line. Releases a lock that was taken by a statement whose reply was lost.
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
  bool known_ = false;  // the lock has the requested number of slots
  std::optional<std::uint64_t> ticket_;
  Nanos renewed_ns_ = 0;
  Nanos asked_ns_ = 0;  // of the first take with a lost reply; 0: none
  std::uint32_t asked_slot_ = 0;
  Nanos next_ns_ = 0;
};

}  // namespace allot::queue
