// SPDX-License-Identifier: Apache-2.0
#include "fault/cluster.h"

#include <filesystem>
#include <fstream>

#include "fault/work.h"
#include "queue/model/compression.h"
#include "queue/model/task.h"
#include "support/text.h"

namespace allot::fault {
namespace {

constexpr std::size_t kRuntime = 8U << 20U;  // per host; enough for all its workers

std::string empty_folder(const std::string& path) {
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace

Cluster::Cluster(const ClusterOptions& options)
    : options_(options),
      evidence_(empty_folder(options.evidence.empty() ? folder_ / "e" : options.evidence)),
      own_server_(options.server != nullptr
                      ? nullptr
                      : std::make_unique<support::Database>(options.server_settings)),
      server_(options.server != nullptr ? options.server : own_server_.get()),
      for_workers_(folder_ / "w", server_->socket(), options.wire),
      for_submitters_(folder_ / "s", server_->socket(), options.wire),
      database_(server_->make_database()) {
  // The account is not root, because root may write to a read-only server.
  auto root = server_->connect();
  root.execute("CREATE USER IF NOT EXISTS 'allot'@'localhost'");
  root.execute("GRANT ALL PRIVILEGES ON " + database_ + ".* TO 'allot'@'localhost'");
  for (unsigned i = 0; i < options.hosts; ++i) {
    hosts_.push_back(std::make_unique<Host>(host_options(i)));
    if (options.small_runtime) make_runtime(i);
    if (options.host_file) write_file(i, options.host_file(i, place(i)));
    write_clients_files(i);
  }
}

void Cluster::make_runtime(unsigned host) {
  auto disk = std::make_unique<support::SmallDisk>(kRuntime);
  runtime_trouble_ = disk->trouble();
  if (!runtime_trouble_.empty()) return;
  const e2e::Daemon& daemon = hosts_.at(host)->daemon();
  std::filesystem::create_directory_symlink(*disk / "", daemon.folder() + "/small");
  daemon.configure(daemon.folder() + "/run", runtime(host));
  runtimes_.push_back(std::move(disk));
}

// A subfolder, because the folder itself must not be a link.
std::string Cluster::runtime(unsigned host) const {
  const std::string& folder = hosts_.at(host)->daemon().folder();
  return folder + (std::filesystem::exists(folder + "/small") ? "/small/run" : "/run");
}

// The last file that a daemon creates appears in one step, after its space is allocated.
bool Cluster::has_room() const {
  for (unsigned host = 0; host < hosts_.size(); ++host) {
    if (!std::filesystem::exists(runtime(host) + "/board")) return false;
  }
  return true;
}

void Cluster::start() {
  for (const auto& host : hosts_) host->start();
}

void Cluster::write_file(unsigned host, const std::string& text) {
  std::ofstream(hosts_.at(host)->daemon().config_file()) << text;
}

Place Cluster::place(unsigned host) const {
  const std::string& folder = hosts_.at(host)->daemon().folder();
  return {for_workers_.database_keys() + "\nuser = \"allot\"\nconnect_timeout = \"1s\"" +
              "\nname = \"" + database_ + "\"\ncall_timeout = \"5s\"",
          runtime(host), folder + "/log", ALLOT_FAULT_FOLDER, traces()};
}

void Cluster::write_clients_files(unsigned host) {
  const std::string text = support::read_file(hosts_[host]->daemon().config_file());
  (void)folder_.write(
      "submit" + std::to_string(host),
      support::replaced(text, for_workers_.database_keys(), for_submitters_.database_keys()));
  (void)folder_.write("operator" + std::to_string(host),
                      support::replaced(text, for_workers_.database_keys(),
                                        "socket = \"" + server_->socket() + "\""));
}

e2e::DaemonOptions Cluster::host_options(unsigned number) {
  e2e::DaemonOptions options;
  options.server = server_;
  options.database = database_;
  options.start = !options_.host_file;
  if (options_.host_file) return options;
  options.workers = options_.workers - 1;
  options.daemon_keys = "instance = \"host" + std::to_string(number) + "\"\nlease_ttl = \"" +
                        std::to_string(number == 0 ? 2'000 : options_.other_ttl.count()) +
                        "ms\"\nstop_timeout = \"5s\"\n";
  const std::string keys =
      "partitions = 8\nmax_attempts = " + std::to_string(options_.max_attempts) +
      "\nretry_delay_max = \"200ms\"\n";
  options.queue_keys = keys;
  const std::string more = "retry_delay = \"20ms\"\n" + keys;
  // A separate worker for tasks that neither crash nor cause the supervisor to kill it: see Storm.
  options.more =
      "[pools.calm]\nsize = 1\nqueues = [\"default\"]\n[queues.exclusive]\nexclusive = true\n" +
      more + "[queues.fragile]\n" + more + "[plugins.fault]\noutput = \"" + traces() + "\"\n";
  if (options_.wake) options.more += "[wake]\nuser = \"root\"\n";
  options.plugins = ALLOT_FAULT_FOLDER;
  options.log_level = "info";
  options.database_keys =
      for_workers_.database_keys() + "\nuser = \"allot\"\nconnect_timeout = \"1s\"";
  return options;
}

void Cluster::purge_log() const {
  auto db = options_.wake ? connect() : std::nullopt;
  if (!db) return;
  try {
    db->execute("FLUSH BINARY LOGS; PURGE BINARY LOGS BEFORE UTC_TIMESTAMP() + INTERVAL 1 DAY");
  } catch (const db::DbError&) {  // the server died
  }
}

std::size_t Cluster::times_followed() const {
  std::size_t times = 0;
  for (const auto& host : hosts_) times += host->daemon().times_logged("wake.following");
  return times;
}

std::optional<db::Connection> Cluster::connect() const {
  try {
    return server_->connect(database_);
  } catch (const db::DbError&) {
    return std::nullopt;
  }
}

bool Cluster::drained() const {
  auto db = connect();
  if (!db) return false;
  return support::number_of(
             *db,
             "SELECT (SELECT COUNT(*) FROM task) + (SELECT COUNT(*) FROM task_running) + "
             "(SELECT COUNT(*) FROM q_lock_table WHERE state <> 'FREE')") == 0;
}

std::vector<std::string> Cluster::tags_in(const std::string& table) const {
  std::vector<std::string> tags;
  auto db = server_->connect(database_);
  auto results = db.execute("SELECT payload FROM " + table);
  while (const auto row = results.front().next()) {
    const std::string payload(row->text(0));
    tags.push_back(payload.substr(0, payload.find(' ')));
  }
  return tags;
}

std::vector<TaskRow> Cluster::rows_in(const std::string& table, const std::string& more) const {
  const std::string key = table == "task" ? "COALESCE(first_key, run_key)" : "first_key";
  const std::string cause = table == "task_dead" ? "cause" : "''";
  auto db = server_->connect(database_);
  auto results =
      db.execute("SELECT queue_id, partition_no, prio, " + key + ", name, flags, " + cause +
                 ", payload FROM " + table + " JOIN queue USING (queue_id) " + more);
  std::vector<TaskRow> rows;
  while (const auto row = results.front().next()) {
    const queue::TaskId id{
        {static_cast<std::uint32_t>(row->u64(0)), static_cast<std::uint32_t>(row->u64(1))},
        static_cast<std::uint32_t>(row->u64(2)),
        row->u64(3)};
    const auto flags = static_cast<std::uint32_t>(row->u64(5));
    std::string payload(row->text(7));
    if ((flags & queue::kCompressedFlags) != 0)
      payload = queue::decompress(flags, std::move(payload));
    const std::string word = payload.substr(0, payload.find(' '));
    rows.push_back({id.text(), payload.rfind('{', 0) == 0 ? hook_tag(id.text()) : word,
                    std::string(row->text(4)), std::string(row->text(6))});
  }
  return rows;
}

std::vector<HistoryRow> Cluster::history() const {
  auto db = server_->connect(database_);
  auto results = db.execute(
      "SELECT queue_id, partition_no, prio, first_key, name, type, attempt"
      "  FROM task_history JOIN queue USING (queue_id)");
  std::vector<HistoryRow> rows;
  while (const auto row = results.front().next()) {
    const queue::TaskId id{
        {static_cast<std::uint32_t>(row->u64(0)), static_cast<std::uint32_t>(row->u64(1))},
        static_cast<std::uint32_t>(row->u64(2)),
        row->u64(3)};
    rows.push_back({id.text(), std::string(row->text(4)), std::string(row->text(5)),
                    static_cast<unsigned>(row->u64(6))});
  }
  return rows;
}

std::string Cluster::operator_config(unsigned host) const {
  return folder_ / ("operator" + std::to_string(host));
}

std::string Cluster::submit_config(unsigned host) const {
  return folder_ / ("submit" + std::to_string(host));
}

void Cluster::keep_logs() {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    std::ofstream(file("log." + std::to_string(i))) << hosts_[i]->daemon().log();
  }
  std::ofstream(file("log.server")) << server_->log();
}

}  // namespace allot::fault
