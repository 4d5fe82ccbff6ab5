// SPDX-License-Identifier: Apache-2.0
#include "support/database.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include "db/migrate.h"
#include "support/bound_socket.h"
#include "support/eventually.h"

namespace allot::support {
namespace {

// Free now; another process may take it before the server does.
std::uint16_t free_port() {
  return static_cast<std::uint16_t>(bound_socket().port);
}

}  // namespace

Database& Database::shared() {
  static Database database;
  return database;
}

Database::Database(std::vector<std::string> settings, Network network,
                   std::vector<std::string> environment, const FirstStart& first)
    : settings_(std::move(settings)), network_(network), environment_(std::move(environment)) {
  if (first.data.empty()) {
    make_data_folder(data_, folder_.path());
  } else {
    std::filesystem::copy(first.data, data_, std::filesystem::copy_options::recursive);
  }
  start(first.settings);
}

Database::~Database() {
  if (!wanted_ || server_->running()) return;
  std::fprintf(stderr, "%s ended by itself:\n%s\n", server_name().c_str(), log().c_str());
}

std::vector<std::string> Database::command(const std::vector<std::string>& once) const {
  std::vector<std::string> command = server_command(data_, folder_.path());
  // With an extension, because MySQL would add one.
  command.insert(command.end(), {"--socket=" + socket(), "--pid-file=" + (folder_ / "pid"),
                                 "--log-error=" + (folder_ / "log.err")});
  if (network_ == Network::kTcp) {
    command.insert(command.end(), {"--bind-address=127.0.0.1", "--port=" + std::to_string(port_)});
  } else {
    command.emplace_back("--skip-networking");
  }
  command.insert(command.end(), settings_.begin(), settings_.end());
  command.insert(command.end(), once.begin(), once.end());
  return command;
}

bool Database::try_start(const std::vector<std::string>& once) {
  ProcessOptions options;
  options.environment = environment_;
  server_ = std::make_unique<Process>(command(once), options);
  const bool answers = eventually(
      [this] {
        if (!server_->running()) return true;
        try {
          return connect().id() != 0;
        } catch (const db::DbError& error) {
          return std::string(error.what()).find(": not used") != std::string::npos;
        }
      },
      std::chrono::seconds(60));
  wanted_ = answers && server_->running();
  return wanted_;
}

void Database::start(const std::vector<std::string>& once) {
  if (server_ && server_->running()) return;
  const bool choose_port = network_ == Network::kTcp && port_ == 0;
  for (int tries = 0; tries < (choose_port ? 5 : 1); ++tries) {
    if (choose_port) port_ = free_port();
    if (try_start(once)) return;
  }
  throw std::runtime_error(server_name() + " did not start:\n" + log());
}

void Database::stop() {
  if (!server_) return;
  wanted_ = false;
  server_->signal(SIGTERM);
  if (!server_->wait(std::chrono::seconds(60))) {
    throw std::runtime_error(server_name() + " does not stop:\n" + log());
  }
}

void Database::kill9() {
  wanted_ = false;
  if (server_) server_->kill9();
}

// The server's threads do not stop at once, and one of them may still answer.
Database::Stall::Stall(const Database& database) : pid_(database.pid()) {
  ::kill(pid_, SIGSTOP);
  const bool stopped = eventually([this] {
    const std::string threads = "/proc/" + std::to_string(pid_) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator(threads)) {
      const std::string stat = read_file(thread.path() / "stat");
      if (stat.compare(stat.rfind(')'), 3, ") T") != 0) return false;
    }
    return true;
  });
  if (!stopped) throw std::runtime_error("the server cannot be stopped");
}

Database::Stall::~Stall() {
  ::kill(pid_, SIGCONT);
}

void Database::restart() {
  stop();
  start();
}

void Database::replace() {
  stop();
  const std::string moved = data_ + "_of_another";
  std::filesystem::rename(data_, moved);
  data_ = moved;
  std::filesystem::remove(data_ + "/auto.cnf");  // identity of a MySQL server
  start();
}

std::string Database::run_offline(const std::string& option) {
  const std::size_t before = log().size();
  ProcessOptions options;
  options.environment = environment_;
  const Finished done = run_program(command({option}), options);
  if (done.status != ExitStatus{0, 0}) throw std::runtime_error(option + " failed:\n" + log());
  return log().substr(before);
}

db::ConnectOptions Database::options(const std::string& database) const {
  db::ConnectOptions options;
  options.socket = socket();
  options.user = "root";
  options.database = database;
  return options;
}

db::Connection Database::connect(const std::string& database) const {
  db::Connection connection(options(database));
  // Tests change tables arbitrarily, and fill them with numbers.
  connection.execute(
      "SET SESSION sql_safe_updates = 0 /*M! , max_recursive_iterations = 10000000 */"
      " /*!80000 , cte_max_recursion_depth = 10000000 */");
  return connection;
}

std::string Database::administer(const std::string& sql) const {
  const Finished done = run_program({"mariadb", "--no-defaults", "--user=root", "--batch",
                                     "--skip-column-names", "--socket=" + socket()},
                                    {.input = sql}, std::chrono::seconds(120));
  if (done.status != ExitStatus{0, 0}) throw std::runtime_error(sql + "\n" + done.err);
  return done.out;
}

std::string Database::make_empty_database() {
  const std::string name = "allot_" + std::to_string(++made_);
  connect().execute("CREATE DATABASE " + name);
  return name;
}

std::string Database::make_database() {
  const std::string name = make_empty_database();
  db::Connection connection = connect(name);
  db::migrate(connection);
  return name;
}

std::string emptied_database() {
  static const std::string kName = Database::shared().make_database();
  db::Connection db = Database::shared().connect(kName);
  for (const char* table :
       {"task",           "task_moved",       "task_attempt", "task_running",    "task_dead",
        "task_unique",    "task_cancel",      "task_history", "queue_duty",      "fair_partition",
        "q_lock_table",   "queue_rate",       "queue_bucket", "queue_pause",     "queue",
        "schedule",       "schedule_tick",    "notice",       "server_identity", "named_lock",
        "lock_ticket",    "bulk_action",      "audit",        "finding",         "instance",
        "attempt_minute", "queue_minute",     "type_hour",    "host_snapshot",   "deployment",
        "fireworq_queue", "fireworq_routing", "fireworq_job", "deferred_type"}) {
    db.execute(std::string("DELETE FROM ") + table);
  }
  db.execute("DELETE FROM route WHERE target_id > 0");  // the other row belongs to the schema
  return kName;
}

std::string value_of(db::Connection& db, const std::string& sql) {
  auto results = db.execute(sql);
  const auto row = results.back().next();
  return row ? std::string(row->text(0)) : "no row";
}

std::uint64_t number_of(db::Connection& db, const std::string& sql) {
  auto results = db.execute(sql);
  const auto row = results.back().next();
  if (!row) throw std::runtime_error("no row: " + sql);
  return row->u64(0);
}

std::string numbers(std::uint64_t first, std::uint64_t last) {
  return "(WITH RECURSIVE counted (seq) AS (SELECT " + std::to_string(first) +
         " UNION ALL SELECT seq + 1 FROM counted WHERE seq < " + std::to_string(last) +
         ") SELECT seq FROM counted) AS numbers";
}

std::uint64_t server_counter(db::Connection& db, const std::string& name) {
  // On MySQL this counter is in another table.
  const bool metric = name == "Innodb_deadlocks" && on_mysql();
  auto results =
      db.execute(metric ? "SELECT name, count FROM information_schema.innodb_metrics WHERE name = "
                          "'lock_deadlocks'"
                        : "SHOW GLOBAL STATUS LIKE '" + name + "'");
  const auto row = results.front().next();
  if (!row) throw std::runtime_error("the server has no counter " + name);
  return row->u64(1);
}

bool keeps_snapshots(db::Connection& db) {
  return number_of(db, "SELECT 0 /*M!110602 + @@GLOBAL.innodb_snapshot_isolation */") == 1;
}

bool reads_from_the_front(db::Connection& db) {
  return number_of(db, "SELECT 0 /*M!110000 + 1 */") == 1;
}

bool wait_for_lock_waits(db::Connection& db, std::uint64_t count) {
  return eventually([&] { return server_counter(db, "Innodb_row_lock_current_waits") >= count; });
}

}  // namespace allot::support
