// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "db/connection.h"
#include "queue/locks/lock.h"
#include "queue/model/lease.h"

// The verbs on named locks and their tickets. Each is one trip, may be sent again after a lost
// reply, and throws db::DbError. None of them looks at a clock of this host.
namespace allot::queue {

inline constexpr std::chrono::milliseconds kTicketTtl{6'000};

// How many slots the lock has, which is made if it is new. Throws Error(kExitBadInput) where
// `wanted` is another number.
std::uint32_t ensure_lock(db::Connection& db, const std::string& name,
                          std::optional<std::uint32_t> wanted);
// nullopt: there is no such lock.
std::optional<std::uint32_t> lock_slots(db::Connection& db, const std::string& name);
// False: there is no such lock.
bool resize_lock(db::Connection& db, const std::string& name, std::uint32_t slots);

// Who waits for a lock: its holder's number, names for people, and its place in the line.
std::uint64_t draw_ticket(db::Connection& db, const std::string& name, const Holder& holder);
bool renew_ticket(db::Connection& db, const Holder& holder);
void return_ticket(db::Connection& db, const Holder& holder);
std::uint64_t purge_tickets(db::Connection& db);

// Where a ticket stands.
struct Line {
  bool there = false;       // the ticket is
  std::uint64_t ahead = 0;  // live tickets before it
  std::uint32_t slots = 0;
  std::vector<std::uint32_t> free;  // slots that may be taken for `ttl`
};
Line watch_line(db::Connection& db, const std::string& name, std::uint64_t ticket,
                std::chrono::milliseconds ttl);

// Takes this slot, which ends the ticket. nullopt: it is not free, or it is not this ticket's turn,
// or the server has changed within the last TTL and a second (S48).
// Where an earlier try won whose reply was lost, the answer is what that one took: `sent_ns` is
// then the caller's to know.
struct Taking {
  const std::string& name;
  std::uint32_t slot = 0;
  std::uint64_t ticket = 0;
  const Holder& holder;
  std::chrono::milliseconds ttl;
};
std::optional<HeldLock> take_lock(db::Connection& db, const Taking& taking, TokenFloor& floor);

// False: the lock is another's, or nobody's, and nothing was written.
bool renew_lock(db::Connection& db, const HeldLock& lock);
bool release_lock(db::Connection& db, const HeldLock& lock);

// A slot that is held, as one look showed it.
struct LockObservation {
  std::string name;
  std::uint32_t slot = 0;
  std::uint64_t epoch = 0;
  std::string expire_at;
  bool expired = false;                    // by the database's clock
  std::chrono::microseconds remaining{0};  // by the database's clock
  std::optional<std::chrono::microseconds> ttl;
  std::string holder;  // "host/pid", for the log
};
using LockSlot = std::pair<std::string, std::uint32_t>;
using LockObservations = std::vector<std::pair<LockSlot, LockObservation>>;
LockObservations watch_lock(db::Connection& db, const std::string& name);
LockObservations watch_locks(db::Connection& db);

// Frees a slot that this process saw standing still (S38), as it was observed. False: somebody was
// faster, or has the row locked, or the server has changed (S48).
bool free_lock(db::Connection& db, const LockObservation& observed, bool stale);

// For people.
struct LockSummary {
  std::string name;
  std::uint32_t slots = 0;
  std::uint32_t held = 0;
  std::uint64_t waiting = 0;
};
struct LockSlotView {
  std::uint32_t slot = 0;
  bool retired = false;  // beyond the number of slots: not taken again
  std::string state;
  std::uint64_t token = 0;
  std::string host;
  std::uint32_t pid = 0;
  std::chrono::microseconds ttl{0};
  std::chrono::microseconds held_for{0};
  std::chrono::microseconds remaining{0};  // negative: expired
};
struct TicketView {
  std::uint64_t ticket = 0;
  std::string host;
  std::uint32_t pid = 0;
  std::chrono::microseconds waiting{0};
  bool live = false;
};
struct LockView {
  std::uint32_t slots = 0;
  std::vector<LockSlotView> held;
  std::vector<TicketView> line;
};
std::vector<LockSummary> list_locks(db::Connection& db);
std::optional<LockView> show_lock(db::Connection& db, const std::string& name);
// False: that token is not the slot's any more.
bool break_lock(db::Connection& db, const std::string& name, const LockSlotView& slot);

}  // namespace allot::queue
