// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "db/connector.h"
#include "db/error.h"
#include "db/prepared.h"
#include "db/standing.h"
#include "db/statement.h"
#include "db/term_memory.h"

namespace allot::db {

// Person or component on whose behalf a connection acts, for audit entries (queue/model/audit.h).
struct Actor {
  std::string name;    // "token:ann", "ann@host"
  std::string source;  // "gateway", "cli", "configuration"
  std::string reason{};
};

struct Server {
  std::string host;
  std::uint16_t port = 3306;
};

enum class Tls {
  kOff,
  kRequired,  // encrypted; the server is not verified
  kVerify,    // also verified: the certificate names the server and is signed by the ca
};

struct TlsOptions {
  Tls mode = Tls::kOff;
  std::string ca{};    // PEM file; empty: certificates trusted by the system
  std::string cert{};  // with key: identifies this client; empty: no client certificate
  std::string key{};
};

struct ConnectOptions {
  std::vector<Server> servers;  // the writer among them is used, see writer.h
  std::string socket;           // if not empty, replaces servers
  std::string user;
  std::string password;
  std::string database;  // empty: no database is selected
  TlsOptions tls;        // not used over a socket
  // The connector rounds both up to whole seconds. The first applies to each server.
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds call_timeout{10'000};
  // How long a statement waits for a lock of another session; at least 1 s.
  std::chrono::seconds lock_wait{5};
  // Never nullptr; copies share it.
  std::shared_ptr<TermMemory> memory = std::make_shared<TermMemory>();
};
// "socket /run/x" or "host:3306", for messages; nullptr: the socket.
[[nodiscard]] std::string place_of(const ConnectOptions& options, const Server* server);

// One row of a stored result. Keeps the result alive; views returned by text() are valid as long as
// the row. The row is valid until the next row of the same result is read.
class Row {
 public:
  Row(std::shared_ptr<st_mysql_res> rows, char** fields, const unsigned long* lengths)
      : rows_(std::move(rows)), fields_(fields), lengths_(lengths) {}
  [[nodiscard]] bool is_null(std::size_t i) const { return fields_[i] == nullptr; }
  // NULL is "" and 0.
  [[nodiscard]] std::string_view text(std::size_t i) const;
  [[nodiscard]] std::string string(std::size_t i) const { return std::string(text(i)); }
  [[nodiscard]] std::uint64_t u64(std::size_t i) const;
  [[nodiscard]] std::uint32_t u32(std::size_t i) const {
    return static_cast<std::uint32_t>(u64(i));
  }

  // Sets these variables to consecutive columns, beginning with column `first`: texts, numbers,
  // bool (not 0), durations and points in time (counted in their own unit, since 1970), and
  // optional ones of these, which are empty for NULL.
  template <typename... Values>
  void read(std::size_t first, Values&... values) const {
    (set(first++, values), ...);
  }

 private:
  [[nodiscard]] std::int64_t i64(std::size_t i) const;
  void set(std::size_t i, std::string& value) const { value = text(i); }
  void set(std::size_t i, bool& value) const { value = u64(i) != 0; }
  template <std::integral Number>
  void set(std::size_t i, Number& value) const {
    value =
        static_cast<Number>(std::is_signed_v<Number> ? static_cast<std::uint64_t>(i64(i)) : u64(i));
  }
  template <typename Rep, typename Period>
  void set(std::size_t i, std::chrono::duration<Rep, Period>& value) const {
    value = std::chrono::duration<Rep, Period>(i64(i));
  }
  template <typename Duration>
  void set(std::size_t i, std::chrono::sys_time<Duration>& value) const {
    value = std::chrono::sys_time<Duration>(Duration(i64(i)));
  }
  template <typename Value>
  void set(std::size_t i, std::optional<Value>& value) const {
    value.reset();
    if (!is_null(i)) set(i, value.emplace());
  }

  std::shared_ptr<st_mysql_res> rows_;
  char** fields_;
  const unsigned long* lengths_;
};

// Result of one statement of a trip.
class StatementResult {
 public:
  StatementResult(st_mysql_res* rows, std::uint64_t affected, std::uint64_t insert_id);
  [[nodiscard]] std::uint64_t affected() const { return affected_; }  // matched rows of an UPDATE
  [[nodiscard]] std::uint64_t insert_id() const { return insert_id_; }
  [[nodiscard]] std::uint64_t row_count() const;
  std::optional<Row> next();
  // For a reply whose columns the server chooses, as of EXPLAIN.
  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const;
  // The row of a SELECT that always returns one. Throws DbError if it is missing.
  [[nodiscard]] Row one();

 private:
  std::shared_ptr<st_mysql_res> rows_;
  std::uint64_t affected_;
  std::uint64_t insert_id_;
};

// SQL statements in the packet of a transaction: one before BEGIN, which commits by itself and
// whose result is left out, and one after COMMIT, so that no lock is held while its rows are sent.
struct Around {
  const Statement* before = nullptr;
  const Statement* after = nullptr;
};

// One session with the server, for one thread. Every call has a deadline and throws DbError; after
// an error of class kGone the connection is useless. UTC, READ COMMITTED, utf8mb4.
class Connection {
 public:
  // Connects to the writer (S52): the server of the socket, or of the list. A server that is not
  // the writer is refused as kGone. If no server is left, the error names all of them, and is kGone
  // as long as one of them may come back.
  explicit Connection(const ConnectOptions& options);
  // Connects to one server regardless of its term, to compare the servers of a list. nullptr: the
  // socket.
  Connection(const ConnectOptions& options, const Server* server);
  // Borrows a connection whose owner keeps its settings: see lent_session.h. Sends each Statement
  // separately, in portable() form.
  explicit Connection(st_mysql& lent);

  // Sends all statements in one packet and reads all results, one element for each *SQL statement*.
  // If one fails, the server has not executed those after it; an open transaction is rolled back.
  std::vector<StatementResult> run(std::initializer_list<Statement> statements);
  std::vector<StatementResult> run(std::span<const Statement> statements);
  // Calls `read` with each row of one SELECT.
  template <typename Read>
  void each_row(const Statement& select, const Read& read) {
    auto results = run({select});
    while (const auto row = results.front().next()) read(*row);
  }
  // The rows of one SELECT, as `read` returns them; all, or the first one.
  template <typename Read>
  [[nodiscard]] auto read_all(const Statement& select, const Read& read) {
    std::vector<std::invoke_result_t<const Read&, const Row&>> all;
    each_row(select, [&](const Row& row) { all.push_back(read(row)); });
    return all;
  }
  template <typename Read>
  [[nodiscard]] auto read_first(const Statement& select, const Read& read) {
    auto results = run({select});
    const auto row = results.front().next();
    return row ? std::optional(read(*row)) : std::nullopt;
  }
  // The same as `Value`s, which `fill` sets.
  template <typename Value, typename Fill>
  [[nodiscard]] std::vector<Value> read_all(const Statement& select, const Fill& fill) {
    std::vector<Value> all;
    each_row(select, [&](const Row& row) { fill(row, all.emplace_back()); });
    return all;
  }
  template <typename Value, typename Fill>
  [[nodiscard]] std::optional<Value> read_first(const Statement& select, const Fill& fill) {
    auto results = run({select});
    const auto row = results.front().next();
    if (!row) return std::nullopt;
    std::optional<Value> value(std::in_place);
    fill(*row, *value);
    return value;
  }
  // The number in the first column of a SELECT that always returns a row.
  [[nodiscard]] std::uint64_t read_number(const Statement& select);

  // The same between BEGIN and COMMIT, still in one packet; the results of these two are left out.
  std::vector<StatementResult> transact(std::span<const Statement> statements,
                                        const Around& around = {});
  // The same for statements with NOWAIT. nullopt: another session has locked a row, and all of the
  // transaction was rolled back.
  std::optional<std::vector<StatementResult>> try_transact(std::span<const Statement> statements,
                                                           const Around& around = {});

  // Plain SQL: migrations, session settings, tests.
  std::vector<StatementResult> execute(std::string_view sql);

  // Begins a transaction of several trips, for SQL that is not Allot's own: without
  // sql_safe_updates until it ends. If the connection ends, an open transaction is rolled back.
  void begin();
  // Sends `statements` and COMMIT in one packet. If one fails, everything is rolled back.
  void commit(std::span<const Statement> statements);
  // Sends BEGIN and `statements` in one packet, and leaves the transaction open. If one fails, it
  // is rolled back.
  std::vector<StatementResult> open_transaction(std::span<const Statement> statements);
  // Ends such a transaction: `statements` and COMMIT in one packet. If one fails, everything is
  // rolled back.
  std::vector<StatementResult> close_transaction(std::span<const Statement> statements);
  void roll_back();
  // As reported with the last result.
  [[nodiscard]] bool in_transaction() const;
  // Executes one statement with a value for each `?`, see prepared.h. Throws Error(kExitBadInput)
  // if their numbers differ.
  Changed execute_prepared(std::string_view sql, std::span<const Value> values,
                           const RowSink& sink);

  // Actor of all operator actions on this connection from now on, written in the transaction of
  // each action (queue/model/audit.h); nullopt: no audit entries.
  void act_for(std::optional<Actor> actor) { actor_ = std::move(actor); }
  [[nodiscard]] const std::optional<Actor>& actor() const { return actor_; }

  // For a lent connection: reads its limits, and returns the name of the selected database.
  std::string inspect_lent();
  void select_database(const std::string& name);

  // Throws kGone if the server is not the writer any more: a session that only reads does not
  // notice a failover.
  void require_writer();
  // The role of the server when it was last read.
  [[nodiscard]] const Standing& standing() const { return standing_; }

  // Throws kRefused if the session has been replaced, or lacks the settings of this connection. The
  // constructor checks the reply to its own settings, where a proxy may not show yet.
  void require_session();

  // Version of the server or proxy, from its greeting.
  [[nodiscard]] std::string greeting() const;
  // "socket /run/x" or "host:3306", for messages.
  [[nodiscard]] const std::string& where() const { return where_; }
  // Reasons why each server before this one in the list is not used, one line each.
  [[nodiscard]] const std::vector<std::string>& passed_over() const { return passed_over_; }

  [[nodiscard]] std::uint64_t id() const { return id_; }
  // Distinguishes the servers of a list: id() counts on each of them.
  [[nodiscard]] std::uint64_t server_id() const { return server_id_; }
  [[nodiscard]] std::uint64_t max_packet() const { return max_packet_; }
  [[nodiscard]] std::chrono::seconds lock_wait() const { return lock_wait_; }

 private:
  friend class BinlogStream;
  struct Close {
    Close() : lent(false) {}
    explicit Close(bool of_somebody_else) : lent(of_somebody_else) {}
    void operator()(st_mysql* handle) const;
    bool lent;
  };
  std::vector<StatementResult> run_one_by_one(std::span<const Statement> statements);
  // `commit_end`: end of the COMMIT of the packet; 0: it has none.
  std::vector<StatementResult> send(std::string_view sql, std::size_t commit_end);
  // Ends a transaction after a failed packet. The statements after the failed one, including
  // COMMIT, were not executed.
  [[noreturn]] void abandon(const DbError& error, const std::string& what);
  void open(const ConnectOptions& options, const Server* server);
  // Sends `sql`, with read_term.sql in the same packet if this account can read it.
  std::vector<StatementResult> with_term(const std::string& sql, std::optional<Row>& term);
  void learn_standing(const Row& role, const std::optional<Row>& term);
  void require_standing();
  void set_up_session(std::chrono::seconds lock_wait);
  void refuse_session(const Row& row, std::size_t first);
  [[nodiscard]] std::string proxy_between();
  class Progress;
  [[noreturn]] void fail(std::string_view doing, Phase phase, Nanos waited = 0);
  [[noreturn]] void fail_packet(std::string_view doing, const Progress& progress, Nanos waited = 0);
  [[noreturn]] void fail_query(Nanos asked_ns, const Progress& progress);  // CLOCK_MONOTONIC
  [[noreturn]] void fail_tls(const Server& server);
  [[noreturn]] void refuse_plain();

  std::string where_;
  std::string account_;
  std::string database_;
  std::vector<std::string> passed_over_;
  std::optional<Actor> actor_;
  std::unique_ptr<st_mysql, Close> handle_;
  std::uint64_t id_ = 0;
  std::uint64_t server_id_ = 0;
  std::uint64_t max_packet_ = 0;
  std::chrono::seconds lock_wait_{0};
  Standing standing_;
  std::shared_ptr<TermMemory> memory_;
  bool reads_term_ = true;
};

// Makes `actor` the actor of a connection during its lifetime.
class Acting {
 public:
  Acting(Connection& db, std::optional<Actor> actor) : db_(db) { db_.act_for(std::move(actor)); }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  ~Acting() { db_.act_for(std::nullopt); }

 private:
  Connection& db_;
};

// The same options for another connection to the server of `connection`, without the rest of the
// list.
[[nodiscard]] ConnectOptions to_same_server(ConnectOptions options, const Connection& connection);

}  // namespace allot::db
