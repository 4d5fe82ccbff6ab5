// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"

// Which server of a list is the writer (S52, decision 0021). server_identity counts the changes of
// server; that number is the term. Of several servers that take writes the one with the highest
// term is used.
namespace allot::db {

// Bound of one attempt where several servers are asked: a server that is frozen, or behind a
// network that drops every packet, costs no more than this.
inline constexpr std::chrono::seconds kAskWithin{1};

// Answer of one server of a list: a connection, or the error why there is none.
struct ServerAnswer {
  Server server;
  std::string where;  // place_of()
  std::optional<Connection> connection{};
  std::optional<DbError> error{};
};
// Asks the servers of a list at once, each in a thread of its own, and waits for all of them; an
// attempt takes at most `within`, in whole seconds. Writes down which of them gave no answer in
// that time. In the order of the list.
enum class Asked {
  kLikely,  // those that gave no answer a moment ago are not asked
  kAll
};
[[nodiscard]] std::vector<ServerAnswer> ask_servers(const ConnectOptions& options, Asked asked,
                                                    std::chrono::milliseconds within);

// Tells `memory` the terms of these answers; the highest term that it knows.
std::uint64_t learn_highest(const std::vector<ServerAnswer>& answers, TermMemory& memory);

// A list with the server on it that is the writer. Throws DbError, which names all servers.
struct Found {
  Connection writer;
  std::vector<std::string> passed_over{};  // see Connection
};
[[nodiscard]] Found find_writer(const ConnectOptions& options);

// note_server.sql for the server of this connection. It fails (1690) on a node of Galera while
// another node is the writer.
[[nodiscard]] Statement note_server_statement(const Connection& db);
// promote.sql: makes this server the writer, with a term above `known_term`.
[[nodiscard]] Statement promote_statement(std::uint64_t known_term);

// For a node of Galera: takes the term over from a node that is not in the view. False: it is, or
// this account may not.
[[nodiscard]] bool claim_term(Connection& db);

}  // namespace allot::db
