// SPDX-License-Identifier: Apache-2.0
// Rules: S2, S55, S64.
#include "db/connection.h"

#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>

#include <algorithm>
#include <charconv>
#include <mutex>

#include "base/clock.h"
#include "base/mutant.h"
#include "db/lent_session.h"
#include "db/proxy.h"
#include "db/session_settings.h"
#include "db/tls.h"
#include "db/writer.h"
#include "sql/queries.h"

namespace allot::db {
namespace {

// Values read from the server at connect; the session's settings follow.
constexpr std::string_view kServer =
    "SELECT CONNECTION_ID(), @@max_allowed_packet,"
    " CRC32(CONCAT_WS('|', @@hostname, @@port, @@server_id)), CURRENT_USER(), ";
constexpr std::size_t kServerColumns = 4;

unsigned whole_seconds(std::chrono::milliseconds duration) {
  return static_cast<unsigned>((duration.count() + 999) / 1000);
}

void initialise_library() {
  static std::once_flag once;
  std::call_once(once, [] { mysql_library_init(0, nullptr, nullptr); });
}

// "lease; fetch": names of the statements of a failed trip.
std::string names_of(std::span<const Statement> statements) {
  return joined(
      statements, [](const Statement& one) { return one.name(); }, "+");
}

std::string packet_of(std::span<const Statement> statements) {
  return joined(
      statements, [](const Statement& one) { return one.render(); }, ";\n");
}

// 0: not a number.
template <typename Number>
Number number_in(std::string_view digits) {
  Number value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// No schema, or an older one. A missing right is another error, which names it.
bool lacks_term(const DbError& error) {
  switch (error.number()) {
    case ER_NO_DB_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_FIELD_ERROR:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string place_of(const ConnectOptions& options, const Server* server) {
  if (server == nullptr) return "socket " + options.socket;
  const bool v6 = server->host.find(':') != std::string::npos;
  return (v6 ? "[" + server->host + "]" : server->host) + ":" + std::to_string(server->port);
}

// Progress of the server with a packet.
class Connection::Progress {
 public:
  Progress(std::string_view sql, std::size_t commit_end, bool in_transaction)
      : sql_(sql), commit_end_(commit_end), in_transaction_(in_transaction) {}

  void answered(bool in_transaction) {
    ++answers_;
    in_transaction_ = in_transaction;
  }
  // `broken`: the server may have executed all of it; otherwise it has refused the next statement.
  [[nodiscard]] Phase phase(bool broken) const {
    const bool commits = commit_end_ != 0;
    if (broken) {
      if (commits && !mutant::removed("outcome_packet")) return Phase::kCommit;
      return in_transaction_ || sql_.starts_with("BEGIN") ? Phase::kStatement : Phase::kAutocommit;
    }
    if (!in_transaction_) return Phase::kAutocommit;
    const bool at_commit = commits && answers_ + 1 == statements_in(sql_.substr(0, commit_end_));
    return at_commit ? Phase::kCommit : Phase::kStatement;
  }

 private:
  std::string_view sql_;
  std::size_t commit_end_;
  bool in_transaction_;
  std::size_t answers_ = 0;
};

std::string_view Row::text(std::size_t i) const {
  return fields_[i] == nullptr ? std::string_view{} : std::string_view{fields_[i], lengths_[i]};
}

std::uint64_t Row::u64(std::size_t i) const {
  return number_in<std::uint64_t>(text(i));
}

std::int64_t Row::i64(std::size_t i) const {
  return number_in<std::int64_t>(text(i));
}

StatementResult::StatementResult(st_mysql_res* rows, std::uint64_t affected,
                                 std::uint64_t insert_id)
    : rows_(rows, mysql_free_result), affected_(affected), insert_id_(insert_id) {}

std::uint64_t StatementResult::row_count() const {
  return rows_ ? mysql_num_rows(rows_.get()) : 0;
}

std::optional<std::size_t> StatementResult::find_column(std::string_view name) const {
  if (!rows_) return std::nullopt;
  const st_mysql_field* fields = mysql_fetch_fields(rows_.get());
  for (std::size_t i = 0; i < mysql_num_fields(rows_.get()); ++i) {
    if (fields[i].name == name) return i;
  }
  return std::nullopt;
}

std::optional<Row> StatementResult::next() {
  if (!rows_) return std::nullopt;
  char** fields = mysql_fetch_row(rows_.get());
  if (fields == nullptr) return std::nullopt;
  return Row(rows_, fields, mysql_fetch_lengths(rows_.get()));
}

Row StatementResult::one() {
  if (auto row = next()) return std::move(*row);
  throw DbError(
      kUnfitServer,
      "a SELECT that always returns a row returned none: the server or a proxy truncates results",
      Phase::kStatement);
}

void Connection::Close::operator()(st_mysql* handle) const {
  if (!lent) mysql_close(handle);
}

Connection::Connection(st_mysql& lent) : handle_(&lent, Close(true)) {
  const char* where = mysql_get_host_info(&lent);  // nullptr: not connected
  where_ = where != nullptr ? where : "the caller's connection";
}

std::string Connection::inspect_lent() {
  auto results = execute("SELECT @@max_allowed_packet, DATABASE() LIMIT 1");
  const Row row = results.front().one();
  max_packet_ = row.u64(0);
  return row.string(1);
}

void Connection::select_database(const std::string& name) {
  if (mysql_select_db(handle_.get(), name.c_str()) != 0) {
    fail("select the database " + name, Phase::kConnect);
  }
}

Connection::Connection(const ConnectOptions& options) {
  if (options.socket.empty() && options.servers.size() > 1) {
    Found found = find_writer(options);
    *this = std::move(found.writer);
    passed_over_ = std::move(found.passed_over);
  } else {
    open(options, options.socket.empty() ? &options.servers.at(0) : nullptr);
  }
  if (standing_.other_node && claim_term(*this)) {
    require_writer();
  } else {
    require_standing();
  }
}

Connection::Connection(const ConnectOptions& options, const Server* server) {
  open(options, server);
}

void Connection::open(const ConnectOptions& options, const Server* server) {
  initialise_library();
  where_ = place_of(options, server);
  memory_ = options.memory;
  handle_.reset(mysql_init(nullptr));
  if (!handle_) throw DbError(CR_OUT_OF_MEMORY, "database: out of memory", Phase::kConnect);
  const unsigned connect_timeout = whole_seconds(options.connect_timeout);
  const unsigned call_timeout = whole_seconds(options.call_timeout);
  mysql_options(handle_.get(), MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout);
  mysql_options(handle_.get(), MYSQL_OPT_READ_TIMEOUT, &call_timeout);
  mysql_options(handle_.get(), MYSQL_OPT_WRITE_TIMEOUT, &call_timeout);
  mysql_options(handle_.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (server != nullptr) {
    const unsigned tcp = MYSQL_PROTOCOL_TCP;  // the connector would use a socket for "localhost"
    mysql_options(handle_.get(), MYSQL_OPT_PROTOCOL, &tcp);
    use_tls(*handle_, options.tls);
  }
  database_ = options.database;
  const char* database = options.database.empty() ? nullptr : options.database.c_str();
  // FOUND_ROWS: an UPDATE reports matched rows, so that "0" always means that the fence was lost.
  if (mysql_real_connect(handle_.get(), server != nullptr ? server->host.c_str() : nullptr,
                         options.user.c_str(), options.password.c_str(), database,
                         server != nullptr ? server->port : 0,
                         server != nullptr ? nullptr : options.socket.c_str(),
                         CLIENT_FOUND_ROWS | CLIENT_MULTI_STATEMENTS) == nullptr) {
    if (mysql_errno(handle_.get()) == CR_SSL_CONNECTION_ERROR && server != nullptr) {
      fail_tls(*server);
    }
    fail("connect", Phase::kConnect);
  }
  if (server != nullptr && !is_as_wanted(*handle_, options.tls)) refuse_plain();
  refuse_by_greeting(greeting(), where_);
  set_up_session(options.lock_wait);
}

void Connection::set_up_session(std::chrono::seconds lock_wait) {
  max_packet_ = 0;  // value of the previous server
  lock_wait_ = lock_wait;
  std::optional<Row> term;
  auto results = with_term(session_settings(lock_wait) + std::string(kServer) + session_columns() +
                               ";\n" + Statement(sql::k_read_role).render(),
                           term);
  const Row role = results.back().one();
  results.pop_back();
  const Row row = results.back().one();
  id_ = row.u64(0);
  max_packet_ = row.u64(1);
  server_id_ = row.u64(2);
  account_ = row.text(3);
  learn_standing(role, term);
  refuse_session(row, kServerColumns);
}

std::vector<StatementResult> Connection::with_term(const std::string& sql,
                                                   std::optional<Row>& term) {
  if (!reads_term_) return execute(sql);
  try {
    auto results = execute(sql + ";\n" + Statement(sql::k_read_term).render());
    term = results.back().next();
    results.pop_back();
    return results;
  } catch (const DbError& error) {
    if (lacks_term(error)) {
      reads_term_ = false;
      return execute(sql);
    }
    if (error.error_class() != ErrorClass::kRefused || !account_.empty()) throw;
    // Repeated, now that the message can name the account.
    auto results = execute("SELECT CURRENT_USER()");
    account_ = results.front().one().text(0);
    return with_term(sql, term);
  }
}

// If the right for the second statement is missing, the read-only switches decide, which Group
// Replication sets on all members except the primary.
void Connection::learn_standing(const Row& role, const std::optional<Row>& term) {
  standing_ = standing_of(role, term);
  if (reads_term_ && !term) standing_.term = 0;  // no server is recorded here yet
  if (standing_.refusal.empty() && has_group(role)) {
    try {
      auto results = run({Statement(sql::k_read_member)});
      if (const auto member = results.front().next()) standing_.refusal = member_refusal(*member);
    } catch (const DbError& error) {
      if (error.error_class() != ErrorClass::kRefused) throw;
    }
  }
  if (!standing_.refusal.empty()) {
    throw DbError(standing_.read_only ? ER_OPTION_PREVENTS_STATEMENT : CR_SERVER_GONE_ERROR,
                  "database at " + where_ + " " + standing_.refusal + ": not used",
                  Phase::kConnect);
  }
}

void Connection::require_session() {
  auto results = execute("SELECT CONNECTION_ID(), " + session_columns());
  const Row row = results.front().one();
  if (row.u64(0) != id_) {
    throw DbError(
        kUnfitServer,
        "database at " + where_ +
            ": two statements of one connection reached different sessions of the server; " +
            proxy_between() +
            " must not share sessions, or send reads and writes to different servers",
        Phase::kConnect);
  }
  refuse_session(row, 1);
}

// Allot's promises depend on these settings. A proxy that drops them, or a server that resets them,
// is not used.
void Connection::refuse_session(const Row& row, std::size_t first) {
  const std::string difference = session_difference(row, first, lock_wait_);
  if (difference.empty()) return;
  throw DbError(kUnfitServer,
                "database at " + where_ + ": the session does not have the settings of Allot: " +
                    difference + "; " + proxy_between() +
                    " must not drop SET, and the server must let this account set it",
                Phase::kConnect);
}

std::string Connection::greeting() const {
  return mysql_get_server_info(handle_.get());
}

// For a message about a known fault.
std::string Connection::proxy_between() {
  std::string name;
  try {
    name = proxy_name(*this);
  } catch (const DbError&) {
  }
  return name.empty() ? "a proxy" : name + ", which is a proxy,";
}

void Connection::require_writer() {
  std::optional<Row> term;
  auto results = with_term(Statement(sql::k_read_role).render(), term);
  learn_standing(results.front().one(), term);
  require_standing();
}

// S52: a server that was the writer once, and does not know its successor, is not used again.
void Connection::require_standing() {
  if (standing_.other_node) {
    throw DbError(
        CR_SERVER_GONE_ERROR,
        "database at " + where_ + " is not the writer node of its Galera cluster: not used",
        Phase::kConnect);
  }
  if (!standing_.term) return;
  memory_->saw(std::max(*standing_.term, standing_.superseded_by));
  const std::uint64_t highest = memory_->highest();
  if (*standing_.term >= highest || mutant::removed("term_highest")) return;
  throw DbError(CR_SERVER_GONE_ERROR,
                "database at " + where_ + " has term " + std::to_string(*standing_.term) +
                    ", and another server has term " + std::to_string(highest) +
                    ": not used; 'allot promote' would make it the writer again",
                Phase::kConnect);
}

void Connection::refuse_plain() {
  throw DbError(kUntrustedServer,
                "database at " + where_ + " does not offer TLS, which [database] tls requires",
                Phase::kConnect);
}

void Connection::fail_tls(const Server& server) {
  const TlsFailure failure = tls_failure(*handle_);
  if (failure == TlsFailure::kNotOffered) refuse_plain();
  const std::string text = "database at " + where_ + ": connect: ";
  if (failure == TlsFailure::kNetwork) {
    throw DbError(CR_SERVER_LOST, text + mysql_error(handle_.get()), Phase::kConnect);
  }
  throw DbError(kUntrustedServer, text + why_untrusted(*handle_, server.host), Phase::kConnect);
}

void Connection::fail(std::string_view doing, Phase phase, Nanos waited) {
  const unsigned number = mysql_errno(handle_.get());
  const std::string reason = mysql_error(handle_.get());
  std::string text = "database at " + where_ + ": " + std::string(doing) + ": " + reason +
                     " (error " + std::to_string(number) + ")";
  const std::string grant = missing_grant(number, reason, account_, database_);
  if (!grant.empty()) text += "; to allow it: " + grant;
  throw DbError(number, text, phase, std::chrono::nanoseconds(waited));
}

// The connector has one text for a server that is gone and one that does not answer in time.
void Connection::fail_query(Nanos asked_ns, const Progress& progress) {
  unsigned most = 0;  // in seconds; 0: no limit, for a lent connection
  mysql_get_option(handle_.get(), MYSQL_OPT_READ_TIMEOUT, &most);
  const unsigned number = mysql_errno(handle_.get());
  const Nanos waited = mono_ns() - asked_ns;
  const bool late = most != 0 && waited >= most * kSecond &&
                    (number == CR_SERVER_LOST || number == CR_SSL_CONNECTION_ERROR);
  fail_packet(late ? "query: no response within " + std::to_string(most) + " s" : "query", progress,
              waited);
}

void Connection::fail_packet(std::string_view doing, const Progress& progress, Nanos waited) {
  // The session is not set up yet, and only reads.
  if (max_packet_ == 0) fail(doing, Phase::kConnect);
  fail(doing,
       progress.phase(breaks_connection(mysql_errno(handle_.get()), mysql_error(handle_.get()))),
       waited);
}

std::vector<StatementResult> Connection::run(std::initializer_list<Statement> statements) {
  return run(std::span<const Statement>(statements.begin(), statements.size()));
}

std::vector<StatementResult> Connection::run(std::span<const Statement> statements) {
  try {
    return handle_.get_deleter().lent ? run_one_by_one(statements) : execute(packet_of(statements));
  } catch (const DbError& error) {
    throw DbError(error, names_of(statements) + ": " + error.what());
  }
}

std::uint64_t Connection::read_number(const Statement& select) {
  return run({select}).front().one().u64(0);
}

std::vector<StatementResult> Connection::run_one_by_one(std::span<const Statement> statements) {
  std::vector<StatementResult> results;
  for (const Statement& statement : statements) {
    // In portable SQL no literal contains a semicolon.
    const std::string sql = portable(statement.render());
    for (std::size_t at = 0; at < sql.size();) {
      const std::size_t end = std::min(sql.find(';', at), sql.size());
      results.push_back(execute(std::string_view(sql).substr(at, end - at)).front());
      at = end + 1;
    }
  }
  return results;
}

std::vector<StatementResult> Connection::transact(std::span<const Statement> statements,
                                                  const Around& around) {
  const auto& [before, after] = around;
  try {
    std::string sql = before != nullptr ? before->render() + ";\n" : "";
    sql += "BEGIN;\n" + packet_of(statements) + ";\nCOMMIT";
    const std::size_t commit_end = sql.size();
    if (after != nullptr) sql += ";\n" + after->render();
    auto results = send(sql, commit_end);
    results.erase(results.begin(), results.begin() + (before != nullptr ? 2 : 1));
    results.erase(results.end() - (after != nullptr ? 2 : 1));
    return results;
  } catch (const DbError& error) {
    std::string names = before != nullptr ? std::string(before->name()) + "+" : "";
    names += names_of(statements);
    if (after != nullptr) names += "+" + std::string(after->name());
    abandon(error, names);
  }
}

std::optional<std::vector<StatementResult>> Connection::try_transact(
    std::span<const Statement> statements, const Around& around) {
  try {
    return transact(statements, around);
  } catch (const DbError& error) {
    if (!is_not_won(error, lock_wait_)) throw;
    return std::nullopt;
  }
}

void Connection::begin() {
  execute("SET SESSION sql_safe_updates = 0; BEGIN");
}

void Connection::commit(std::span<const Statement> statements) {
  try {
    execute("SET SESSION sql_safe_updates = 1;\n" + packet_of(statements) + ";\nCOMMIT");
  } catch (const DbError& error) {
    abandon(error, names_of(statements));
  }
}

std::vector<StatementResult> Connection::open_transaction(std::span<const Statement> statements) {
  try {
    auto results = execute("BEGIN;\n" + packet_of(statements));
    results.erase(results.begin());
    return results;
  } catch (const DbError& error) {
    abandon(error, names_of(statements));
  }
}

std::vector<StatementResult> Connection::close_transaction(std::span<const Statement> statements) {
  try {
    auto results = execute(packet_of(statements) + (statements.empty() ? "COMMIT" : ";\nCOMMIT"));
    results.pop_back();
    return results;
  } catch (const DbError& error) {
    abandon(error, statements.empty() ? "COMMIT" : names_of(statements));
  }
}

void Connection::abandon(const DbError& error, const std::string& what) {
  if (error.error_class() != ErrorClass::kGone) execute("ROLLBACK");
  throw DbError(error, what + ": " + error.what());
}

void Connection::roll_back() {
  execute("ROLLBACK; SET SESSION sql_safe_updates = 1");
}

bool Connection::in_transaction() const {
  return (handle_->server_status & SERVER_STATUS_IN_TRANS) != 0;
}

ConnectOptions to_same_server(ConnectOptions options, const Connection& connection) {
  std::erase_if(options.servers, [&](const Server& server) {
    return place_of(options, &server) != connection.where();
  });
  return options;
}

std::vector<StatementResult> Connection::execute(std::string_view sql) {
  return send(sql, sql.ends_with("COMMIT") ? sql.size() : 0);
}

std::vector<StatementResult> Connection::send(std::string_view sql, std::size_t commit_end) {
  MYSQL* handle = handle_.get();
  if (max_packet_ != 0 && sql.size() >= max_packet_) {
    throw DbError(CR_NET_PACKET_TOO_LARGE,
                  "a statement of " + std::to_string(sql.size()) +
                      " bytes exceeds the server's max_allowed_packet of " +
                      std::to_string(max_packet_) + "; raise it in the server's configuration",
                  Phase::kConnect);
  }
  Progress progress(sql, commit_end, in_transaction());
  Nanos asked = mono_ns();
  if (mysql_real_query(handle, sql.data(), static_cast<unsigned long>(sql.size())) != 0) {
    fail_query(asked, progress);
  }
  std::vector<StatementResult> results;
  for (;;) {
    st_mysql_res* rows = mysql_store_result(handle);
    if (rows == nullptr && mysql_field_count(handle) != 0) {
      fail_packet("read", progress);
    }
    results.emplace_back(rows, mysql_affected_rows(handle), mysql_insert_id(handle));
    progress.answered(in_transaction());
    asked = mono_ns();
    const int more = mysql_next_result(handle);
    if (more < 0) return results;
    if (more > 0) fail_query(asked, progress);
  }
}

}  // namespace allot::db
