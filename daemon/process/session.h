// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "db/connection.h"
#include "ipc/slot.h"
#include "peer/poll_page.h"
#include "process/slot_writer.h"
#include "queue/verbs/lease_store.h"

namespace allot::process {

// Connects, and logs which servers of the list were skipped and why. Throws DbError.
[[nodiscard]] db::Connection connect(const db::ConnectOptions& options);

// How long a worker's statements wait for a lock of another session: a third of a lease, so that
// the lease in hand does not expire during the wait. From 1 s, the minimum of a server, to 5 s.
[[nodiscard]] std::chrono::seconds lock_wait(std::chrono::microseconds ttl);

// Connection `which` of a slot (SlotWriter::connected), for queue::kill_connections; id 0: none.
[[nodiscard]] queue::FormerConnection former_connection(const ipc::Slot& slot, std::size_t which);

// Thrown when the database stays away while the worker has to leave.
class GaveUp : public std::runtime_error {
 public:
  GaveUp() : std::runtime_error("gave up on the database while leaving") {}
};

// The block loop's connection, kept up: it repeats a call over deadlocks, lost connections and
// server restarts until it succeeds. A verb that is passed to call() must therefore take effect
// only once if it is executed twice, as every verb of the stores does.
class Session {
  // Result of the verb, or true. First in the class, because call_while() names its type.
  template <typename Verb>
  static auto answer(Verb& verb, db::Connection& db) {
    if constexpr (std::is_void_v<decltype(verb(db))>) {
      verb(db);
      return true;
    } else {
      return verb(db);
    }
  }

 public:
  // `place` is the index of its connection in the slot, see SlotWriter::connected().
  Session(db::ConnectOptions options, SlotWriter& slot, std::chrono::milliseconds patience,
          std::size_t place = 0)
      : options_(std::move(options)), slot_(slot), patience_(patience), place_(place) {}

  // Returns the result of the verb; true if it has none. Throws GaveUp when asked to leave and the
  // database stays away for longer than the patience.
  template <typename Verb>
  auto call(Verb&& verb) {
    for (;;) {
      const SlotWriter::Guard guard(slot_);
      try {
        auto result = answer(verb, connection());
        failures_ = 0;
        return result;
      } catch (const db::DbError& error) {
        handle(error);
      }
    }
  }

  // Like call(), but tries at least once, and again only while `go_on` returns true. nullopt: no
  // try succeeded. Throws errors that waiting does not fix.
  template <typename GoOn, typename Verb>
  auto call_while(GoOn&& go_on, Verb&& verb)
      -> std::optional<decltype(answer(verb, std::declval<db::Connection&>()))> {
    do {
      const SlotWriter::Guard guard(slot_);
      try {
        auto result = answer(verb, connection());
        failures_ = 0;
        return result;
      } catch (const db::DbError& error) {
        using enum db::ErrorClass;
        if (!error.is_any_of({kRetryable, kFull, kGone})) throw;
        handle(error);
      }
    } while (go_on());
    return std::nullopt;
  }

  // Tries once, on the present connection: for statements of an open transaction. Throws DbError.
  template <typename Verb>
  auto once(Verb&& verb) {
    const SlotWriter::Guard guard(slot_);
    try {
      return answer(verb, present());
    } catch (const db::DbError& error) {
      note(error);
      throw;
    }
  }

  // Drops the connection; the server undoes an unfinished transaction.
  void give_up_connection();

  // From now on each new connection records a server change (S48). Call it once the schema is known
  // to exist.
  void note_changes() { notes_changes_ = true; }

  // S77: uses the steward's findings about the server instead of queries. `page` outlives this
  // object.
  void use(peer::PollReader& page) { page_ = &page; }
  // The steward's last poll, if it is fresh and was made on the server of this connection, after
  // this connection was opened. If the steward has reconnected since, this connection is tested
  // first.
  std::optional<peer::Poll> steward_poll();
  // The server of the present connection, and when it was last seen to be the writer, for a page.
  [[nodiscard]] peer::PollSource source() const;
  [[nodiscard]] Nanos writer_seen_ns() const { return writer_seen_ns_; }

  // Grows with every lost connection: if it grew, a reply may have been lost.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

 private:
  db::Connection& connection();
  [[nodiscard]] bool writer_was_seen(Nanos now);
  [[nodiscard]] bool is_here(const peer::Poll& poll) const;
  db::Connection& present();
  void end_former(db::Connection& fresh);
  void handle(const db::DbError& error);
  void note(const db::DbError& error);
  void back_off();

  db::ConnectOptions options_;
  SlotWriter& slot_;
  std::chrono::milliseconds patience_;
  std::size_t place_;
  std::optional<db::Connection> connection_;
  std::uint64_t server_id_ = 0;  // of the last connection; 0: there was none
  Nanos writer_seen_ns_ = 0;     // when the server was last seen to be writable; CLOCK_BOOTTIME
  Nanos connected_ns_ = 0;       // CLOCK_BOOTTIME
  std::uint64_t generation_ = 0;
  std::uint32_t failures_ = 0;
  bool notes_changes_ = false;
  std::optional<std::uint64_t> leaving_since_ns_;
  peer::PollReader* page_ = nullptr;
  peer::PollSource steward_{};  // connection of the page at the last test of this one
};

// Throws unless schema and server are fit for the protocol. Records the server (S48).
void require_fit(Session& session, const db::ConnectOptions& options);

}  // namespace allot::process
