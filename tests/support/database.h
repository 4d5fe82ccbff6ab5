// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "db/connection.h"
#include "support/process.h"
#include "support/server_program.h"
#include "support/temp_dir.h"

namespace allot::support {

enum class Network {
  kNone,
  kTcp,  // 127.0.0.1, on a port that was free; the same one after a restart
};

// First start of a server.
struct FirstStart {
  std::vector<std::string> settings{};  // options for the first start only
  std::string data{};                   // data folder to copy; empty: a new one is created
};

// A private server (see server_program.h) with its own data folder and socket. It ends with this
// object and with the thread that started it. Its time zone is unusual, so that a session that
// forgets UTC is detected.
class Database {
 public:
  // Server of this test program, started at the first call (0.8 s). Make that call on the main
  // thread: the server ends with the thread that started it.
  static Database& shared();

  // `settings` are additional options of the server, e.g. "--innodb-lock-wait-timeout=1";
  // `environment` is as in ProcessOptions.
  explicit Database(std::vector<std::string> settings = {}, Network network = Network::kNone,
                    std::vector<std::string> environment = {}, const FirstStart& first = {});
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  // Prints the log of a server that ended by itself: its tests see only lost connections.
  ~Database();

  // Root without a password. `database` may be empty: none is selected.
  [[nodiscard]] db::ConnectOptions options(const std::string& database = {}) const;
  db::Connection connect(const std::string& database = {}) const;
  // Executes SQL as root with the server's own client, and returns its output: one row per line.
  // For servers that are not the writer, which Allot's connections refuse. Throws
  // std::runtime_error if a statement fails.
  std::string administer(const std::string& sql) const;
  // Address with kTcp.
  [[nodiscard]] db::Server tcp() const { return {"127.0.0.1", port_}; }
  [[nodiscard]] std::string socket() const { return folder_ / "s"; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] const std::string& data() const { return data_; }
  [[nodiscard]] pid_t pid() const { return server_ ? server_->pid() : -1; }

  // Creates a database with a unique name; the first with the current schema, the second without
  // tables.
  std::string make_database();
  std::string make_empty_database();

  // Returns when the server answers; does nothing if it runs. `once` are options of this start
  // only.
  void start(const std::vector<std::string>& once = {});
  void stop();     // an orderly shutdown
  void kill9();    // SIGKILL: committed work must exist after start()
  void restart();  // stop() and start()
  // Another server with the same data, at the same socket: like a replica that replaces its
  // primary. It reports another identity.
  void replace();
  // Runs the program, while the server is down, with an option that makes it end by itself, and
  // returns what that run adds to the log.
  std::string run_offline(const std::string& option);

  // The server neither answers nor refuses anything as long as this object exists: as behind a
  // network that drops every packet.
  class Stall {
   public:
    explicit Stall(const Database& database);
    Stall(const Stall&) = delete;
    Stall& operator=(const Stall&) = delete;
    ~Stall();

   private:
    pid_t pid_;
  };

  [[nodiscard]] std::string log() const { return read_file(folder_ / "log.err"); }

 private:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& once) const;
  // False if it ended immediately, as it does if another process took the port.
  bool try_start(const std::vector<std::string>& once);

  // In this order: the server ends before its files are removed.
  TempDir folder_;
  Janitor janitor_{folder_.path()};
  std::string data_ = folder_ / "data";
  std::vector<std::string> settings_;
  Network network_;
  std::vector<std::string> environment_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> server_;
  bool wanted_ = false;  // started, and not stopped since
  std::atomic<unsigned> made_{0};
};

// The database shared by the tests of this program, on its shared server, with only the rows of its
// schema: creating one takes as long as a test.
std::string emptied_database();

// First field of the first row that `sql`, or its last statement, returns; "no row" if there is
// none.
std::string value_of(db::Connection& db, const std::string& sql);
// The same as a number, 0 for NULL. Throws if no row is found.
std::uint64_t number_of(db::Connection& db, const std::string& sql);

// A table of numbers from `first` to `last` for a FROM, in its column `seq`.
std::string numbers(std::uint64_t first, std::uint64_t last);

// Counter of the whole server, e.g. "Innodb_deadlocks". Throws if the server does not have it.
std::uint64_t server_counter(db::Connection& db, const std::string& name);

// True if the server ends a REPEATABLE READ transaction that locks a row newer than its view (error
// 1020), as MariaDB does by default since 11.6.2. Others lock the current row.
bool keeps_snapshots(db::Connection& db);

// True if the server scans from the front when a statement needs most rows of a table, instead of
// seeking their start: since MariaDB 11.0 its cost model prefers that.
bool reads_from_the_front(db::Connection& db);

// Waits until this number of statements on this server wait for a row lock. (Not by innodb_trx,
// which is not refreshed while it is polled.)
[[nodiscard]] bool wait_for_lock_waits(db::Connection& db, std::uint64_t count);

}  // namespace allot::support
