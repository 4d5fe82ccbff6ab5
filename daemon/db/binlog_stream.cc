// SPDX-License-Identifier: Apache-2.0
#include "db/binlog_stream.h"

#include <errmsg.h>
#include <fcntl.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <random>
#include <string_view>
#include <utility>

#include "db/logged_tasks.h"

// Connector/C before 3.3.9 crashes on some events of partitioned tables (CONC-688). MySQL's own
// connector has another interface.
#if __has_include(<mariadb_rpl.h>)
#include <mariadb_rpl.h>
#if MARIADB_PACKAGE_VERSION_ID >= 30309
#define ALLOT_READS_BINLOG
#endif
#endif

namespace allot::db {

namespace {

const Server* only_server(const ConnectOptions& options) {
  return options.socket.empty() ? &options.servers.at(0) : nullptr;
}

}  // namespace

#ifdef ALLOT_READS_BINLOG

namespace {

constexpr std::chrono::milliseconds kHeartbeat{1'000};
constexpr int kMissedHeartbeats = 4;

// The connector keeps three copies of an event. A row of `task` fits; a larger row of another table
// ends the stream.
constexpr unsigned long kLargestEvent = 32UL << 20;

constexpr std::int64_t k2025 = 1'735'689'600;  // in seconds since 1970
constexpr std::int64_t kDueWithin = 2;         // clocks differ, and times are whole seconds here

// Replicas of operators usually have small ids, and an id that is in use ends another replica's
// stream.
std::uint32_t random_server_id() {
  std::random_device device;
  std::uniform_int_distribution<std::uint32_t> upper_half(
      std::uint32_t{1} << 31, std::numeric_limits<std::uint32_t>::max());
  return upper_half(device);
}

// A thread that ends the stream may have to wait for a connection attempt, for up to these times.
ConnectOptions with_deadlines(ConnectOptions options) {
  options.connect_timeout = std::min(options.connect_timeout, kHeartbeat * kMissedHeartbeats);
  options.call_timeout = kHeartbeat * kMissedHeartbeats;
  return options;
}

std::string_view view(const MARIADB_STRING& text) {
  return {text.str, text.length};
}

bool same(const MARIADB_STRING& text, std::string_view name) {
  return text.length == name.size() && strncasecmp(text.str, name.data(), name.size()) == 0;
}

bool inserts(mariadb_rpl_event type) {
  return type == WRITE_ROWS_EVENT_V1 || type == WRITE_ROWS_EVENT ||
         type == WRITE_ROWS_COMPRESSED_EVENT_V1;
}

bool updates(mariadb_rpl_event type) {
  return type == UPDATE_ROWS_EVENT_V1 || type == UPDATE_ROWS_EVENT ||
         type == UPDATE_ROWS_COMPRESSED_EVENT_V1;
}

// The server sends an extra event of this kind before each file. If the events of the file before
// had checksums, the connector (3.3.20) treats it as malformed.
bool ends_file(const MARIADB_RPL_EVENT& event) {
  return event.event_type == ROTATE_EVENT && (event.flags & LOG_EVENT_ARTIFICIAL_F) == 0;
}

// Latest due time of interest, in us since 2025: by the time of the statement that inserted the
// task or, after a long transaction, by this host's time, whichever is later.
std::uint64_t due_by(const MARIADB_RPL_EVENT& event) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::int64_t latest =
      std::max(now.time_since_epoch(), std::chrono::seconds(event.timestamp)).count();
  return static_cast<std::uint64_t>(std::max(latest + kDueWithin - k2025, std::int64_t{0})) *
         1'000'000;
}

using RowsEvent = st_mariadb_rpl_rows_event;
using DueTasks = std::map<std::uint32_t, std::size_t>;  // by queue id

// One task of any queue, if the rows are not understood.
DueTasks any_queue() {
  return {{0, 1}};
}

bool is_due(std::uint64_t run_key, std::uint64_t by) {
  return run_key >> 12 <= by;
}

std::string_view bits_of(const unsigned char* bits, const RowsEvent& rows) {
  return {reinterpret_cast<const char*>(bits), (rows.column_count + 7) / 8};
}

std::string_view data_of(const RowsEvent& rows) {
  return {static_cast<const char*>(rows.row_data), rows.row_data_size};
}

DueTasks due_in(const RowsEvent& rows, const LoggedColumns& columns, std::uint64_t by,
                bool inserted) {
  const std::string_view present = bits_of(rows.column_bitmap, rows);
  std::string_view data = data_of(rows);
  std::optional<std::string_view> after;
  if (!inserted && rows.column_update_bitmap != nullptr) {
    after = bits_of(rows.column_update_bitmap, rows);
  } else if (!inserted) {  // the connector (3.3.20) leaves these bytes of MySQL's events before the
                           // rows
    after = data.substr(0, present.size());
    data.remove_prefix(after->size());
  }
  const auto tasks = logged_tasks(columns, present, data, after);
  if (!tasks) return any_queue();
  DueTasks due;
  for (const LoggedTask& task : *tasks) {
    // Tasks that were due before are known or running.
    const bool was_due = task.former_key && is_due(*task.former_key, by);
    if (is_due(task.run_key, by) && !was_due) ++due[task.queue_id];
  }
  return due;
}

struct Position {
  std::string file;
  std::uint64_t offset = 0;
};

// MySQL has renamed the statement in 8.4, and MariaDB does not know the new name.
StatementResult end_of_log(Connection& db) {
  try {
    return std::move(db.execute("SHOW MASTER STATUS").front());
  } catch (const DbError& error) {
    if (error.number() != ER_PARSE_ERROR) throw;
    return std::move(db.execute("SHOW BINARY LOG STATUS").front());
  }
}

Position find_end(Connection& db) {
  auto status = end_of_log(db);
  const auto end = status.next();
  if (!end) throw DbError(kUnfitServer, "the binary log is off (log_bin)", Phase::kConnect);
  auto results = db.execute("SHOW GLOBAL VARIABLES LIKE 'binlog_format'");
  if (const auto format = results.front().next(); format && format->text(1) != "ROW") {
    throw DbError(kUnfitServer,
                  "binlog_format is " + std::string(format->text(1)) +
                      ", and only ROW says which tables a transaction changed",
                  Phase::kConnect);
  }
  return {std::string(end->text(0)), end->u64(1)};
}

// MySQL and MariaDB read these under different names, and ignore the others. The capability
// announces support for MariaDB's transaction events: otherwise they are sent as other events.
std::string replica_settings() {
  const std::string period = std::to_string(std::chrono::nanoseconds(kHeartbeat).count());
  return "SET @master_heartbeat_period = " + period + ", @source_heartbeat_period = " + period +
         ", @master_binlog_checksum = @@global.binlog_checksum,"
         " @source_binlog_checksum = @@global.binlog_checksum, @mariadb_slave_capability = 4";
}

}  // namespace

struct BinlogStream::Handle {
  struct Close {
    void operator()(MARIADB_RPL* opened) const { mariadb_rpl_close(opened); }
    void operator()(MARIADB_RPL_EVENT* read) const { mariadb_free_rpl_event(read); }
  };
  std::unique_ptr<MARIADB_RPL, Close> replica;
  std::uint64_t table_id = 0;  // of `task` in the last transaction
  LoggedColumns columns;       // of `task`
};

BinlogStream::BinlogStream(const ConnectOptions& options, std::string database,
                           std::uint32_t server_id)
    : connection_(with_deadlines(options), only_server(options)),
      database_(std::move(database)),
      server_id_(server_id != 0 ? server_id : random_server_id()),
      handle_(std::make_unique<Handle>()) {
  try {
    open();
  } catch (const DbError& error) {
    if (error.error_class() != ErrorClass::kRefused || error.number() == kUnfitServer) throw;
    throw DbError(error, std::string(error.what()) +
                             "; the account needs REPLICATION SLAVE and REPLICATION CLIENT on *.*");
  }
}

BinlogStream::~BinlogStream() = default;

void BinlogStream::open() {
  connection_.execute(replica_settings());
  const Position end = find_end(connection_);
  connection_.handle_->net.max_packet_size = kLargestEvent;
  MARIADB_RPL* replica = mariadb_rpl_init(connection_.handle_.get());
  if (replica == nullptr) {
    throw DbError(CR_OUT_OF_MEMORY, "database: out of memory", Phase::kConnect);
  }
  handle_->replica.reset(replica);
  mariadb_rpl_optionsv(replica, MARIADB_RPL_SERVER_ID, server_id_);
  mariadb_rpl_optionsv(replica, MARIADB_RPL_HOST, "allot");
  mariadb_rpl_optionsv(replica, MARIADB_RPL_FILENAME, end.file.c_str(), end.file.size());
  mariadb_rpl_optionsv(replica, MARIADB_RPL_START, static_cast<unsigned long>(end.offset));
  mariadb_rpl_optionsv(replica, MARIADB_RPL_VERIFY_CHECKSUM, std::uint32_t{1});
  if (mariadb_rpl_open(replica) == 0) {
    socket_.reset(fcntl(mysql_get_socket(connection_.handle_.get()), F_DUPFD_CLOEXEC, 0));
    return;
  }
  // The connector has no text if the server refuses the account (1045 or 1227).
  const unsigned number = mariadb_rpl_errno(replica);
  throw DbError(number != 0 ? number : mysql_errno(connection_.handle_.get()),
                "database at " + where() + ": it does not register this account as a replica",
                Phase::kConnect);
}

BinlogStream::Event BinlogStream::next() {
  MARIADB_RPL* replica = handle_->replica.get();
  const std::unique_ptr<MARIADB_RPL_EVENT, Handle::Close> event(
      mariadb_rpl_fetch(replica, nullptr));
  if (!event) {
    if (mariadb_rpl_errno(replica) != 0) {
      throw DbError(CR_SERVER_LOST,
                    "database at " + where() + ": the binary log: " + mariadb_rpl_error(replica),
                    Phase::kConnect);
    }
    connection_.fail("follow the binary log", Phase::kConnect);
  }
  if (event->event_type == TABLE_MAP_EVENT) {
    const auto& map = event->event.table_map;
    if (!same(map.database, database_) || !same(map.table, "task")) return Event::kOther;
    handle_->table_id = map.table_id;
    handle_->columns = {std::string(view(map.column_types)), std::string(view(map.metadata))};
    return Event::kOther;
  }
  if (ends_file(*event)) return Event::kLast;
  const bool inserted = inserts(event->event_type);
  if (!inserted && !updates(event->event_type)) return Event::kOther;
  const RowsEvent& rows = event->event.rows;
  if (rows.table_id != handle_->table_id) return Event::kOther;
  due_ = due_in(rows, handle_->columns, due_by(*event), inserted);
  return due_.empty() ? Event::kOther : Event::kTasks;
}

void BinlogStream::interrupt() {
  shutdown(socket_.get(), SHUT_RDWR);
}

#else

struct BinlogStream::Handle {};

BinlogStream::BinlogStream(const ConnectOptions& options, std::string database,
                           std::uint32_t server_id)
    : connection_(options, only_server(options)),
      database_(std::move(database)),
      server_id_(server_id) {
  open();
}

BinlogStream::~BinlogStream() = default;

void BinlogStream::open() {
  throw DbError(kUnfitServer,
                "this build's connector cannot read a binary log: MariaDB's from 3.3.9 on can",
                Phase::kConnect);
}

BinlogStream::Event BinlogStream::next() {
  return Event::kLast;
}

void BinlogStream::interrupt() {}

#endif

}  // namespace allot::db
