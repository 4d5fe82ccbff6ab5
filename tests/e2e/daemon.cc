// SPDX-License-Identifier: Apache-2.0
#include "e2e/daemon.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <set>
#include <sstream>
#include <stdexcept>

#include "queue/model/catalog.h"
#include "support/text.h"

namespace allot::e2e {

std::string program(const std::string& name) {
  return std::string(ALLOT_PROGRAMS) + "/" + name;
}
std::string probe_folder() {
  return ALLOT_PROBE_FOLDER;
}

std::string exec_plugin() {
  return ALLOT_EXEC_PLUGIN;
}

Daemon::Daemon(const DaemonOptions& options)
    : allotd_(options.allotd.empty() ? program("allotd") : options.allotd),
      server_(options.server != nullptr ? *options.server : support::Database::shared()),
      database_(options.database) {
  if (database_.empty())
    database_ = options.migrate ? server_.make_database() : server_.make_empty_database();
  const std::string shared = "socket = \"" + server_.socket() + "\"\nuser = \"root\"";
  std::ostringstream config;
  config << "[database]\n"
         << (options.database_keys.empty() ? shared : options.database_keys) << "\nname = \""
         << database_ << "\"\ncall_timeout = \"" << options.call_timeout << "\"\n"
         << "[daemon]\nruntime_dir = \"" << folder_ / "run"
         << "\"\n"
         << options.daemon_keys << "\n[queues.default]\nretry_delay = \"20ms\"\n"
         << options.queue_keys << "\n[pools.default]\nsize = " << options.workers << "\n"
         << options.pool_keys << "\n[plugins]\nfolder = \""
         << (options.plugins.empty() ? probe_folder() : options.plugins)
         << "\"\n[plugins.probe]\noutput = \"" << folder_ / "written"
         << "\"\n[logging]\nlevel = \"" << options.log_level << "\"\nformat = \""
         << options.log_format << "\"\nfile = \"" << folder_ / "log"
         << "\"\n"
         << options.more;
  config_file_ = folder_.write("allot.toml", config.str());
  if (options.start) start();
}

void Daemon::start() {
  process_ = std::make_unique<support::Process>(
      std::vector<std::string>{allotd_, "--config", config_file_});
}

std::optional<support::ExitStatus> Daemon::stop(int signal) {
  process_->signal(signal);
  return process_->wait(std::chrono::seconds(60));
}

void Daemon::configure(const std::string& from, const std::string& to) const {
  (void)folder_.write("allot.toml",
                      support::replaced_first(support::read_file(config_file_), from, to));
}

support::Finished Daemon::allot(std::vector<std::string> arguments,
                                const std::string& input) const {
  arguments.insert(arguments.begin(), {program("allot"), "--config", config_file_});
  return support::run_program(std::move(arguments), {.input = input});
}

std::string Daemon::must(const std::vector<std::string>& arguments) const {
  const auto done = allot(arguments);
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0}))
      << testing::PrintToString(arguments) << done.err;
  return done.out;
}

std::string Daemon::submit(const std::string& type, const std::string& payload) const {
  const auto done = allot({"submit", "default", type, payload});
  if (done.status != support::ExitStatus{0, 0}) throw std::runtime_error("submit: " + done.err);
  return done.out.substr(0, done.out.find('\n'));
}

void Daemon::submit_many(const std::string& type, const std::vector<std::string>& payloads) const {
  std::vector<nlohmann::json> tasks;
  for (const std::string& payload : payloads)
    tasks.push_back({{"type", type}, {"payload", payload}});
  submit_all(tasks);
}

void Daemon::submit_all(const std::vector<nlohmann::json>& tasks) const {
  std::string lines;
  for (nlohmann::json task : tasks) {
    if (!task.contains("queue")) task["queue"] = "default";
    lines += task.dump() + "\n";
  }
  const auto done = allot({"submit", "--ndjson", "-"}, lines);
  if (done.status != support::ExitStatus{0, 0}) throw std::runtime_error("submit: " + done.err);
}

nlohmann::json Daemon::status() const {
  return nlohmann::json::parse(allot({"status", "--json"}).out);
}

nlohmann::json Daemon::task(const std::string& id) const {
  const auto done = allot({"task", "show", id, "--json"});
  return done.status.code == 0 ? nlohmann::json::parse(done.out) : nlohmann::json();
}

std::vector<pid_t> Daemon::workers() const {
  std::vector<pid_t> pids;
  const auto seen = status();
  for (const auto& worker : seen["workers"]) pids.push_back(worker["pid"].get<pid_t>());
  return pids;
}

std::vector<pid_t> Daemon::busy_workers() const {
  std::vector<pid_t> pids;
  const auto seen = status();  // a temporary would not outlive the loop's head
  for (const auto& worker : seen["workers"]) {
    if (!worker["running"].empty()) pids.push_back(worker["pid"].get<pid_t>());
  }
  return pids;
}

std::vector<pid_t> Daemon::ready_workers() const {
  std::set<pid_t> stewards;
  std::vector<pid_t> pids;
  std::istringstream lines(log());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t pid = line.find(" pid=");
    if (pid == std::string::npos) continue;
    const pid_t named = std::atoi(line.c_str() + pid + 5);
    const bool steward = line.ends_with(" pool=steward");
    if (steward && line.find("supervisor worker.start ") != std::string::npos) {
      stewards.insert(named);
    } else if (line.find("supervisor worker.ready ") != std::string::npos &&
               stewards.count(named) == 0) {
      pids.push_back(named);
    }
  }
  return pids;
}

pid_t Daemon::steward() const {
  const auto seen = status();
  for (const auto& steward : seen["stewards"]) {
    if (steward["state"] == "idle") return steward["pid"].get<pid_t>();
  }
  return 0;
}

db::Connection Daemon::connect() const {
  return server_.connect(database_);
}

std::uint64_t Daemon::count(const std::string& table) const {
  return number("SELECT COUNT(*) FROM " + table);
}

std::uint64_t Daemon::leases() const {
  return count("q_lock_table WHERE state <> 'FREE'");
}

std::string Daemon::value(const std::string& sql) const {
  auto connection = connect();
  return support::value_of(connection, sql);
}

std::uint64_t Daemon::number(const std::string& sql) const {
  auto connection = connect();
  return support::number_of(connection, sql);
}

bool Daemon::drained() const {
  auto connection = connect();
  auto results = connection.execute(
      "SELECT (SELECT COUNT(*) FROM task) + (SELECT COUNT(*) FROM task_running), (SELECT COUNT(*) "
      "FROM q_lock_table WHERE state <> "
      "'FREE')");
  const auto row = results.front().next();
  return row->u64(0) == 0 && row->u64(1) == 0;
}

bool Daemon::drains() const {
  return support::eventually([this] { return drained(); }, std::chrono::seconds(60));
}

std::vector<std::string> Daemon::written() const {
  return support::read_lines(folder_ / "written");
}

std::string Daemon::log() const {
  return support::read_file(folder_ / "log") +
         (process_ == nullptr ? std::string() : process_->err());
}

bool Daemon::logged(const std::string& text) const {
  return log().find(text) != std::string::npos;
}

std::size_t Daemon::times_logged(const std::string& text) const {
  return support::times_in(log(), text);
}

void wait_ready(const Daemon& daemon, std::size_t workers) {
  ASSERT_TRUE(support::eventually([&] { return daemon.ready_workers().size() >= workers; }))
      << daemon.log();
}

std::vector<pid_t> sorted_workers(const Daemon& daemon) {
  auto pids = daemon.workers();
  std::sort(pids.begin(), pids.end());
  return pids;
}

bool detached(const Daemon& daemon, std::uint64_t tasks) {
  return support::eventually([&] { return daemon.count("task_running") == tasks; });
}

std::vector<pid_t> kill_all_of(Daemon& daemon) {
  auto workers = daemon.workers();
  daemon.process().signal(SIGSTOP);
  for (const pid_t worker : workers) support::send_signal(worker, SIGKILL);
  daemon.process().kill9();
  return workers;
}

void start_all(const std::vector<std::unique_ptr<Daemon>>& daemons, std::size_t workers) {
  for (const auto& daemon : daemons) daemon->start();
  for (const auto& daemon : daemons) wait_ready(*daemon, workers);
}

void stop_all(const std::vector<std::unique_ptr<Daemon>>& daemons) {
  for (const auto& daemon : daemons) EXPECT_EQ(daemon->stop()->code, 0) << daemon->log();
}

std::vector<std::string> numbered(int count, const std::string& prefix) {
  std::vector<std::string> payloads;
  for (int i = 0; i < count; ++i) payloads.push_back(prefix + std::to_string(i));
  return payloads;
}

void make_ops(const Daemon& daemon) {
  auto db = daemon.connect();
  queue::ensure_queue(db, "ops", {4});
}

}  // namespace allot::e2e
