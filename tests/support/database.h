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
  kTcp,  // 127.0.0.1, at a port that was free; the same one after a restart
};

// The first start of a server.
struct FirstStart {
  std::vector<std::string> settings{};  // options that no later start has
  std::string data{};  // a data folder to start on a copy of; empty: a new one is made
};

// A private server (see server_program.h): own data folder, own socket; gone with this object and
// with the thread that started it. Its time zone is an odd one, so that a session that forgets UTC
// shows.
class Database {
 public:
  // The one of this test program, started at the first call (0.8 s). Make that call on the main
  // thread: the server ends with the thread that started it.
  static Database& shared();

  // `settings` are further options of the server, e.g. "--innodb-lock-wait-timeout=1";
  // `environment` is as in ProcessOptions.
  explicit Database(std::vector<std::string> settings = {}, Network network = Network::kNone,
                    std::vector<std::string> environment = {}, const FirstStart& first = {});
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  // Shows the log of a server that ended by itself: its tests see only lost connections.
  ~Database();

  // Root without a password. `database` may be empty: none is selected.
  [[nodiscard]] db::ConnectOptions options(const std::string& database = {}) const;
  db::Connection connect(const std::string& database = {}) const;
  // Executes SQL as root by the server's own client, and returns what that prints: a row on each
  // line. For servers that are not the writer, which Allot's connections refuse. Throws
  // std::runtime_error when a statement fails.
  std::string administer(const std::string& sql) const;
  // Where it listens with kTcp.
  [[nodiscard]] db::Server tcp() const { return {"127.0.0.1", port_}; }
  [[nodiscard]] std::string socket() const { return folder_ / "s"; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] const std::string& data() const { return data_; }
  [[nodiscard]] pid_t pid() const { return server_ ? server_->pid() : -1; }

  // A new database of its own name; the first with the current schema, the second without tables.
  std::string make_database();
  std::string make_empty_database();

  // Answers on return; does nothing when it runs. `once` are options of this start only.
  void start(const std::vector<std::string>& once = {});
  void stop();     // an orderly shutdown
  void kill9();    // SIGKILL: committed work must be there after start()
  void restart();  // stop() and start()
  // Another server over the same data, at the same socket: as a replica that takes the place of its
  // primary. It says of itself that it is another one.
  void replace();
  // Runs the program, while the server is down, with an option that makes it end by itself, and
  // returns what that run adds to the log.
  std::string run_offline(const std::string& option);

  // Answers nothing, and refuses nothing either, for as long as this lives: as behind a network
  // that drops every packet.
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
  // False when it ended at once, which is what a port does that somebody else took meanwhile.
  bool try_start(const std::vector<std::string>& once);

  // In this order: the server ends before its files go.
  TempDir folder_;
  Janitor janitor_{folder_.path()};
  std::string data_ = folder_ / "data";
  std::vector<std::string> settings_;
  Network network_;
  std::vector<std::string> environment_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> server_;
  bool wanted_ = false;  // it was started, and not stopped since
  std::atomic<unsigned> made_{0};
};

// The database that the tests of this program share, on its shared server, with no rows but its
// schema's: to make one takes as long as a test does.
std::string emptied_database();

// The first field of the first row of what `sql`, or its last statement, answers; "no row" if there
// is none.
std::string value_of(db::Connection& db, const std::string& sql);
// The same as a number, 0 for NULL. Throws when there is no row.
std::uint64_t number_of(db::Connection& db, const std::string& sql);

// A table of numbers from `first` to `last` for a FROM, in its column `seq`.
std::string numbers(std::uint64_t first, std::uint64_t last);

// A counter of the whole server, e.g. "Innodb_deadlocks". Throws when the server has none of it.
std::uint64_t server_counter(db::Connection& db, const std::string& name);

// Whether the server ends a REPEATABLE READ transaction that locks a row which is newer than its
// view (error 1020), as MariaDB does by default since 11.6.2. Others lock the row as it is now.
bool keeps_snapshots(db::Connection& db);

// Whether the server reads on from the front where a statement wants most rows of a table, instead
// of looking up where they begin: by the costs of MariaDB since 11.0 that is cheaper.
bool reads_from_the_front(db::Connection& db);

// Waits until so many statements on this server wait for a row's lock. (Not by innodb_trx: what
// that shows is not renewed while somebody keeps asking.)
[[nodiscard]] bool wait_for_lock_waits(db::Connection& db, std::uint64_t count);

}  // namespace allot::support
