// SPDX-License-Identifier: Apache-2.0
#include "fault/cluster.h"

#include <filesystem>
#include <fstream>

namespace allot::fault {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), with);
  return text;
}

std::string empty_folder(const std::string& path) {
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace

Cluster::Cluster(const ClusterOptions& options)
    : options_(options),
      evidence_(empty_folder(options.evidence.empty() ? folder_ / "e" : options.evidence)),
      server_(options.server_settings),
      for_workers_(folder_ / "w", server_.socket()),
      for_submitters_(folder_ / "s", server_.socket()),
      database_(server_.make_database()) {
  // The account is not root, because root may write to a read-only server.
  auto root = server_.connect();
  root.execute("CREATE USER 'allot'@'localhost'");
  root.execute("GRANT ALL PRIVILEGES ON " + database_ + ".* TO 'allot'@'localhost'");
  for (unsigned i = 0; i < options.hosts; ++i) {
    hosts_.push_back(std::make_unique<Host>(host_options(i)));
    (void)folder_.write("submit" + std::to_string(i),
                        replaced(support::read_file(hosts_[i]->daemon().config_file()),
                                 folder_ / "w", folder_ / "s"));
  }
}

e2e::DaemonOptions Cluster::host_options(unsigned number) {
  e2e::DaemonOptions options;
  options.workers = options_.workers - 1;
  options.daemon_keys = "instance = \"host" + std::to_string(number) + "\"\nlease_ttl = \"" +
                        std::to_string(number == 0 ? 2'000 : options_.other_ttl.count()) +
                        "ms\"\nstop_timeout = \"5s\"\n";
  const std::string keys =
      "partitions = 8\nmax_attempts = " + std::to_string(options_.max_attempts) +
      "\nretry_delay_max = \"200ms\"\n";
  options.queue_keys = keys;
  const std::string more = "retry_delay = \"20ms\"\n" + keys;
  // A separate worker for tasks that neither crash nor make the supervisor end it: see Storm.
  options.more =
      "[pools.calm]\nsize = 1\nqueues = [\"default\"]\n[queues.exclusive]\nexclusive = true\n" +
      more + "[queues.fragile]\n" + more + "[plugins.fault]\noutput = \"" + traces() + "\"\n";
  options.plugins = ALLOT_FAULT_FOLDER;
  options.log_level = "info";
  options.server = &server_;
  options.database = database_;
  options.database_keys =
      "socket = \"" + (folder_ / "w") + "\"\nuser = \"allot\"\nconnect_timeout = \"1s\"";
  return options;
}

std::optional<db::Connection> Cluster::connect() const {
  try {
    return server_.connect(database_);
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
  auto db = server_.connect(database_);
  auto results = db.execute("SELECT payload FROM " + table);
  while (const auto row = results.front().next()) {
    const std::string payload(row->text(0));
    tags.push_back(payload.substr(0, payload.find(' ')));
  }
  return tags;
}

std::string Cluster::submit_config(unsigned host) const {
  return folder_ / ("submit" + std::to_string(host));
}

void Cluster::keep_logs() {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    std::ofstream(file("log." + std::to_string(i))) << hosts_[i]->daemon().log();
  }
  std::ofstream(file("log.server")) << server_.log();
}

}  // namespace allot::fault
