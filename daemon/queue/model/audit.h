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

// Entries of the table `audit` (S89, decision 0029). Every function that does what an operator
// requests sends its statements through act(). The connection knows the actor
// (Connection::act_for()); a connection without one, of a worker or an application, writes no
// entries.
namespace allot::queue {

// Action of an operator, and its subject.
struct Action {
  std::string_view verb;     // "pause"
  std::string_view subject;  // "queue"
  std::string name;          // of the subject, or its id
  db::Statement found;       // one of audit_*.sql: no entry if it finds nothing
  std::string detail{};      // for people
  std::uint64_t number = 0;  // of an action in several transactions; 0: one transaction
  bool adds_up = false;      // adds up the tasks of these transactions
};

inline constexpr std::size_t kMaxReason = 255;  // bytes

enum class Entry {
  kBefore,  // `found` sees the rows before the change
  kAfter,   // `found` sees the rows after the change
};

// Sends the statements and the entry in one packet and one transaction, and returns the results of
// the statements. Throws like Connection::transact().
std::vector<db::StatementResult> act(db::Connection& db, const Action& action,
                                     std::span<const db::Statement> statements,
                                     Entry entry = Entry::kBefore);
// The same with several entries.
std::vector<db::StatementResult> act(db::Connection& db, std::span<const Action> actions,
                                     std::span<const db::Statement> statements,
                                     Entry entry = Entry::kBefore);

// The entry alone, for a transaction of several trips. nullopt: the connection has no actor.
[[nodiscard]] std::optional<db::Statement> entry_of(const db::Connection& db, const Action& action);

// `found` of an action that always has an effect. Empty queue: the entry belongs to no queue.
[[nodiscard]] db::Statement found_plain(std::string_view queue, std::string_view to_queue = {});

}  // namespace allot::queue
