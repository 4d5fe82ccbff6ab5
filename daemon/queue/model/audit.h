// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"

// The entries of the table `audit` (S89, decision 0029). Every function that does what an operator
// asks sends its statements by act(). Who asks is known to the connection (Connection::act_for());
// one without an actor, of a worker or of an application, writes no entries.
namespace allot::queue {

// What an operator does, and to what.
struct Deed {
  std::string_view action;   // "pause"
  std::string_view subject;  // "queue"
  std::string name;          // of the subject, or its id
  db::Statement found;       // one of audit_*.sql: no entry where it finds nothing
  std::string detail{};      // for people
  std::uint64_t number = 0;  // of an action of several transactions; 0: it has one
  bool adds_up = false;      // the tasks of these transactions are added up
};

inline constexpr std::size_t kMaxReason = 255;  // bytes

enum class Entry {
  kBefore,  // `found` sees what there is before the change
  kAfter,   // and here what the change has made
};

// Sends the statements and the entry in one packet and one transaction, and returns the answers to
// the statements. Throws as Connection::transact().
std::vector<db::StatementResult> act(db::Connection& db, const Deed& deed,
                                     std::span<const db::Statement> statements,
                                     Entry entry = Entry::kBefore);
// The same with several entries before them.
std::vector<db::StatementResult> act(db::Connection& db, std::span<const Deed> deeds,
                                     std::span<const db::Statement> statements);

// The entry by itself, for a transaction of several trips. nullopt: the connection has no actor.
[[nodiscard]] std::optional<db::Statement> entry_of(const db::Connection& db, const Deed& deed);

// `found` of an action that has an effect whatever there is. Without a queue it belongs to none.
[[nodiscard]] db::Statement found_plain(std::string_view queue, std::string_view to_queue = {});

}  // namespace allot::queue
