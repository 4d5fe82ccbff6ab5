// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"

// Finds the writer among the servers of a list (S52, decision 0021). server_identity counts server
// changes; that number is the term. If several servers take writes, the one with the highest term
// is used.
namespace allot::db {

// Limit of one attempt if several servers are tried: a server that is frozen, or behind a network
// that drops every packet, costs no more than this.
inline constexpr std::chrono::seconds kAskWithin{1};

// Reply of one server of a list: a connection, or the error that prevented it.
struct ServerAnswer {
  Server server;
  std::string where;  // place_of()
  std::optional<Connection> connection{};
  std::optional<DbError> error{};
};
// Connects to the servers of a list concurrently, each in its own thread, and waits for all of
// them; an attempt takes at most `within`, in whole seconds. Records which of them did not answer
// in time. In the order of the list.
enum class Asked {
  kLikely,  // servers that recently did not answer are skipped
  kAll
};
[[nodiscard]] std::vector<ServerAnswer> ask_servers(const ConnectOptions& options, Asked asked,
                                                    std::chrono::milliseconds within);

// Stores the terms of these replies in `memory`, and returns the highest term that it knows.
std::uint64_t learn_highest(const std::vector<ServerAnswer>& answers, TermMemory& memory);

// A list reduced to the writer. Throws DbError, which names all servers.
struct Found {
  Connection writer;
  std::vector<std::string> passed_over{};  // see Connection
};
[[nodiscard]] Found find_writer(const ConnectOptions& options);

// note_server.sql for the server of this connection. Fails (1690) on a node of Galera while another
// node is the writer.
[[nodiscard]] Statement note_server_statement(const Connection& db);
// promote.sql: makes this server the writer, with a term above `known_term`.
[[nodiscard]] Statement promote_statement(std::uint64_t known_term);

// For a node of Galera: takes the term over from a node that is not in the view. False: that node
// is in the view, or this account may not read it.
[[nodiscard]] bool claim_term(Connection& db);

}  // namespace allot::db
