// SPDX-License-Identifier: Apache-2.0
#include "queue/locks/lock_store.h"

#include "base/error.h"
#include "db/writer.h"
#include "queue/model/audit.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

db::Statement named_lock(const sql::SqlText& sql, const std::string& name) {
  db::Statement statement(sql);
  statement.set_bytes("name", name);
  return statement;
}

db::Statement held_lock(const sql::SqlText& sql, const HeldLock& lock) {
  db::Statement statement = named_lock(sql, lock.name);
  statement.set("slot", lock.slot).set("epoch", lock.token).set("holder", lock.holder);
  return statement;
}

// `epoch`: as the slot was shown; 0: any.
Action lock_action(std::string_view verb, const std::string& name, std::uint32_t slot,
                   std::uint64_t epoch, std::string detail) {
  db::Statement found = named_lock(sql::k_audit_lock, name);
  found.set("slot", slot).set("epoch", epoch);
  return {verb, "lock", name, found, std::move(detail)};
}

void read_held_slot(const db::Row& row, LockObservation& observed) {
  row.read(0, observed.name, observed.slot, observed.epoch, observed.expire_at, observed.expired,
           observed.remaining, observed.ttl);
  observed.holder = row.string(7) + "/" + row.string(8);
}

}  // namespace

std::optional<std::uint32_t> lock_slots(db::Connection& db, const std::string& name) {
  return db.read_first(named_lock(sql::k_lock_slots, name),
                       [](const db::Row& row) { return row.u32(0); });
}

std::uint32_t ensure_lock(db::Connection& db, const std::string& name,
                          std::optional<std::uint32_t> wanted) {
  auto slots = lock_slots(db, name);
  if (!slots) {
    db::Statement make = named_lock(sql::k_make_lock, name);
    make.set("slots", wanted.value_or(1));
    try {
      db.run({make});
    } catch (const db::DbError& error) {
      if (error.error_class() != db::ErrorClass::kDuplicate) throw;
    }
    slots = lock_slots(db, name);
    if (!slots) throw Error("lock '" + name + "' was created but does not exist", kExitSoftware);
  }
  if (wanted && *wanted != *slots) {
    throw Error("slots " + std::to_string(*wanted) + ": the lock '" + name + "' has " +
                    std::to_string(*slots) + "; 'allot lock resize' changes that for all its users",
                kExitBadInput);
  }
  return *slots;
}

bool resize_lock(db::Connection& db, const std::string& name, std::uint32_t slots) {
  db::Statement resize = named_lock(sql::k_resize_lock, name);
  resize.set("slots", slots);
  const Action action = lock_action("resize_lock", name, 0, 0, std::to_string(slots) + " slots");
  return act(db, action, {&resize, 1}).front().affected() > 0;
}

std::uint64_t draw_ticket(db::Connection& db, const std::string& name, const Holder& holder) {
  db::Statement draw = named_lock(sql::k_draw_ticket, name);
  draw.set("holder", holder.id)
      .set("host", holder.host)
      .set("pid", holder.pid)
      .set("ttl_us", kTicketTtl);
  auto results = db.run({draw});
  return results.back().one().u64(0);
}

bool renew_ticket(db::Connection& db, const Holder& holder) {
  return db.run({db::Statement(sql::k_renew_ticket).set("holder", holder.id)}).front().affected() ==
         1;
}

void return_ticket(db::Connection& db, const Holder& holder) {
  db.run({db::Statement(sql::k_return_ticket).set("holder", holder.id)});
}

std::uint64_t purge_tickets(db::Connection& db) {
  return db.run({db::Statement(sql::k_purge_tickets)}).front().affected();
}

Line watch_line(db::Connection& db, const std::string& name, std::uint64_t ticket,
                std::chrono::milliseconds ttl) {
  db::Statement watch = named_lock(sql::k_watch_line, name);
  watch.set("ticket", ticket).set("ttl_us", ttl);
  auto results = db.run({watch});
  Line line;
  results.at(0).one().read(0, line.ahead, line.there);
  if (const auto row = results.at(1).next()) line.slots = row->u32(0);
  while (const auto row = results.at(2).next()) line.free.push_back(row->u32(0));
  return line;
}

std::optional<HeldLock> take_lock(db::Connection& db, const Taking& taking, TokenFloor& floor) {
  db::Statement take = named_lock(sql::k_take_lock, taking.name);
  take.set("slot", taking.slot)
      .set("ticket", taking.ticket)
      .set("holder", taking.holder.id)
      .set("host", taking.holder.host)
      .set("pid", taking.holder.pid)
      .set("ttl_us", taking.ttl)
      .set("known_us", floor.least_us());
  const Nanos sent = boot_ns();
  const db::Statement note = db::note_server_statement(db);
  auto results = db.transact({&take, 1}, {.before = &note});
  const auto row = results.back().next();
  if (!row) return std::nullopt;
  HeldLock lock{taking.name, row->u32(0), row->u64(1), taking.holder.id, taking.ttl, sent};
  floor.saw(lock.token);
  return lock;
}

bool renew_lock(db::Connection& db, const HeldLock& lock) {
  return db.run({held_lock(sql::k_renew_lock, lock)}).front().affected() == 1;
}

bool release_lock(db::Connection& db, const HeldLock& lock) {
  return db.run({held_lock(sql::k_release_lock, lock)}).front().affected() == 1;
}

std::vector<LockObservation> watch_lock(db::Connection& db, const std::string& name) {
  return db.read_all<LockObservation>(named_lock(sql::k_watch_lock, name), read_held_slot);
}

std::vector<LockObservation> watch_locks(db::Connection& db) {
  return db.read_all<LockObservation>(db::Statement(sql::k_watch_locks), read_held_slot);
}

bool free_lock(db::Connection& db, const LockObservation& observed, bool stale) {
  db::Statement free = named_lock(sql::k_free_lock, observed.name);
  free.set("slot", observed.slot)
      .set("seen_epoch", observed.epoch)
      .set("seen_expire_at", observed.expire_at)
      .set("stale", stale);
  const db::Statement note = db::note_server_statement(db);
  const auto results = db.try_transact({&free, 1}, {.before = &note});
  return results && results->front().affected() == 1;
}

std::vector<LockSummary> list_locks(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_list_locks), [](const db::Row& row) {
    return LockSummary{row.string(0), row.u32(1), row.u32(2), row.u64(3)};
  });
}

std::optional<LockView> show_lock(db::Connection& db, const std::string& name) {
  auto results = db.run({named_lock(sql::k_show_lock, name)});
  LockView view;
  while (const auto row = results.at(0).next()) {
    view.slots = row->u32(1);
    if (row->text(2) == "FREE") continue;
    LockSlotView& slot = view.held.emplace_back();
    row->read(0, slot.slot);
    row->read(2, slot.state, slot.token, slot.host, slot.pid, slot.ttl, slot.held_for,
              slot.remaining);
    slot.retired = slot.slot >= view.slots;
  }
  if (view.slots == 0) return std::nullopt;
  while (const auto row = results.at(1).next()) {
    TicketView& ticket = view.line.emplace_back();
    row->read(0, ticket.ticket, ticket.host, ticket.pid, ticket.waiting, ticket.live);
  }
  return view;
}

bool break_lock(db::Connection& db, const std::string& name, const LockSlotView& slot) {
  db::Statement end = named_lock(sql::k_break_lock, name);
  end.set("slot", slot.slot).set("epoch", slot.token);
  const Action action =
      lock_action("break_lock", name, slot.slot, slot.token, "slot " + std::to_string(slot.slot));
  return act(db, action, {&end, 1}).front().affected() == 1;
}

}  // namespace allot::queue
