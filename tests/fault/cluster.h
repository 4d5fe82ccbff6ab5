// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fault/host.h"
#include "fault/host_file.h"
#include "fault/proxy.h"
#include "support/database.h"
#include "support/small_disk.h"
#include "support/stepped_clock.h"

namespace allot::fault {

struct ClusterOptions {
  unsigned hosts = 2;
  unsigned workers = 4;                        // per host; one is in a pool "calm"
  unsigned max_attempts = 10;                  // of every queue
  std::vector<std::string> server_settings{};  // options of the server
  std::string evidence{};                      // a folder that is kept; empty: none
  std::chrono::milliseconds other_ttl{2'000};  // of all hosts except the first, whose TTL is 2 s
  support::Database* server = nullptr;         // a running server; nullptr: a private one
  support::SteppedClock* clock = nullptr;      // clock of that server
  bool small_runtime = false;                  // the hosts' runtime folders are on small disks
  Wire wire = Wire::kPlain;                    // between all programs and the proxies
  bool wake = false;                           // the hosts follow the server's binary log
  // Whole configuration of a host, instead of one made from the numbers above. Nothing is started
  // before start().
  std::function<std::string(unsigned host, const Place&)> host_file{};
};

// A task as a row of a table.
struct TaskRow {
  std::string id;
  std::string tag;
  std::string queue;
  std::string cause{};  // cause of its death
};

// A row of task_history.
struct HistoryRow {
  std::string id;
  std::string queue;
  std::string type;
  unsigned attempt = 0;
};

// One database, "hosts" connected through one proxy, submitters connected through another.
// Everything ends with this object and with the thread that made it.
class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options);

  void start();
  // Writes `text` into the configuration file of a host, which reads it on request.
  void write_file(unsigned host, const std::string& text);
  // Paths of a host, for a configuration by host_file.
  [[nodiscard]] Place place(unsigned host) const;

  static std::vector<std::string> queues() { return {"default", "exclusive", "fragile"}; }
  static std::vector<std::string> exclusive_queues() { return {"exclusive"}; }

  [[nodiscard]] support::Database& server() { return *server_; }
  [[nodiscard]] support::SteppedClock* clock() const { return options_.clock; }
  // File systems of the runtime folders; empty: `small_runtime` is off, or impossible here
  // (small_runtime_trouble()).
  [[nodiscard]] const std::vector<std::unique_ptr<support::SmallDisk>>& runtimes() const {
    return runtimes_;
  }
  // True if all hosts have allocated what they need there.
  [[nodiscard]] bool has_room() const;
  [[nodiscard]] const std::string& small_runtime_trouble() const { return runtime_trouble_; }
  [[nodiscard]] Proxy& for_workers() { return for_workers_; }
  [[nodiscard]] Proxy& for_submitters() { return for_submitters_; }
  [[nodiscard]] std::vector<std::unique_ptr<Host>>& hosts() { return hosts_; }

  // Connects without the proxies; nullopt: the server is down or read-only.
  [[nodiscard]] std::optional<db::Connection> connect() const;
  // If the hosts follow the binary log: starts a new log file and removes the earlier ones.
  void purge_log() const;
  // Number of times that a host started to follow it.
  [[nodiscard]] std::size_t times_followed() const;
  // True if no task waits and no lease is held.
  [[nodiscard]] bool drained() const;
  // The tags in a table that has payloads.
  [[nodiscard]] std::vector<std::string> tags_in(const std::string& table) const;
  [[nodiscard]] std::vector<HistoryRow> history() const;
  // Rows of `task`, `task_running` or `task_dead`; `more` is appended after the FROM. Throws
  // db::DbError.
  [[nodiscard]] std::vector<TaskRow> rows_in(const std::string& table,
                                             const std::string& more = {}) const;

  [[nodiscard]] std::string submit_config(unsigned host) const;  // configuration file for `allot`
  // The same for operators, whose connections are not disturbed.
  [[nodiscard]] std::string operator_config(unsigned host) const;
  [[nodiscard]] const std::string& database() const { return database_; }
  [[nodiscard]] std::string file(const std::string& name) const { return evidence_ + "/" + name; }
  [[nodiscard]] std::string traces() const { return file("traces"); }

  // Copies the logs of the daemons into the evidence folder.
  void keep_logs();

 private:
  [[nodiscard]] e2e::DaemonOptions host_options(unsigned number);
  void write_clients_files(unsigned host);
  void make_runtime(unsigned host);
  [[nodiscard]] std::string runtime(unsigned host) const;

  ClusterOptions options_;
  support::TempDir folder_;
  std::string evidence_;
  std::unique_ptr<support::Database> own_server_;
  support::Database* server_;
  Proxy for_workers_;
  Proxy for_submitters_;
  std::string database_;
  std::vector<std::unique_ptr<support::SmallDisk>> runtimes_;  // outlive the hosts
  std::string runtime_trouble_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace allot::fault
