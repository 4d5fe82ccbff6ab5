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
// reply, throws db::DbError, and reads no clock of this host.
namespace allot::queue {

inline constexpr std::chrono::milliseconds kTicketTtl{6'000};

// Returns the number of slots; creates the lock if it is new. Throws Error(kExitBadInput) if
// `wanted` is another number.
std::uint32_t ensure_lock(db::Connection& db, const std::string& name,
                          std::optional<std::uint32_t> wanted);
// nullopt: no such lock.
std::optional<std::uint32_t> lock_slots(db::Connection& db, const std::string& name);
// False: no such lock.
bool resize_lock(db::Connection& db, const std::string& name, std::uint32_t slots);

// Draws a ticket for the holder's number, with its names for people. Returns its place in the line.
std::uint64_t draw_ticket(db::Connection& db, const std::string& name, const Holder& holder);
bool renew_ticket(db::Connection& db, const Holder& holder);
void return_ticket(db::Connection& db, const Holder& holder);
std::uint64_t purge_tickets(db::Connection& db);

struct Line {
  bool there = false;       // the ticket exists
  std::uint64_t ahead = 0;  // live tickets before it
  std::uint32_t slots = 0;
  std::vector<std::uint32_t> free;  // slots that can be taken for `ttl`
};
Line watch_line(db::Connection& db, const std::string& name, std::uint64_t ticket,
                std::chrono::milliseconds ttl);

// Takes this slot, which ends the ticket. nullopt: the slot is not free, it is not this ticket's
// turn, or the server changed within the last TTL plus a second (S48). If an earlier try succeeded
// but its reply was lost, returns the slot that it took; the caller then sets `sent_ns` to the time
// of the first try.
struct Taking {
  const std::string& name;
  std::uint32_t slot = 0;
  std::uint64_t ticket = 0;
  const Holder& holder;
  std::chrono::milliseconds ttl;
};
std::optional<HeldLock> take_lock(db::Connection& db, const Taking& taking, TokenFloor& floor);

// False: the lock has another holder or none, and nothing was written.
bool renew_lock(db::Connection& db, const HeldLock& lock);
bool release_lock(db::Connection& db, const HeldLock& lock);

// A held slot.
using LockSlot = std::pair<std::string, std::uint32_t>;
struct LockObservation : ObservedTerm {
  std::string name;
  std::uint32_t slot = 0;

  [[nodiscard]] LockSlot key() const { return {name, slot}; }
};
std::vector<LockObservation> watch_lock(db::Connection& db, const std::string& name);
std::vector<LockObservation> watch_locks(db::Connection& db);

// Frees a slot that this process saw unchanged (S38), if it still is as observed. False: another
// process was faster or has locked the row, or the server has changed (S48).
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
  bool retired = false;  // beyond the number of slots: not taken any more
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
// False: the slot has another token by now.
bool break_lock(db::Connection& db, const std::string& name, const LockSlotView& slot);

}  // namespace allot::queue
