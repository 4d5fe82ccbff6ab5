// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/connection.h"
#include "support/database.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::e2e {

// Options of a test for its daemon; the rest of the configuration is the same for all.
struct DaemonOptions {
  unsigned workers = 2;
  std::string queue_keys{};   // lines below [queues.default]
  std::string daemon_keys{};  // lines below [daemon]
  std::string pool_keys{};    // lines below [pools.default]
  std::string more{};         // further sections
  std::string plugins{};      // plugin folder; empty: the probe plugin's
  std::string log_level{"debug"};
  std::string log_format{"text"};
  bool migrate = true;
  bool start = true;
  std::string allotd{};                 // program; empty: the built one
  support::Database* server = nullptr;  // nullptr: the shared one
  std::string database_keys{};          // lines of [database] instead of socket and user
  std::string database{};               // an existing one; empty: a fresh one
  std::string call_timeout{"5s"};
};

// A real allotd with real workers and a fresh database of a server, in a temporary folder, with the
// probe plugin. Killed with SIGKILL if the test did not stop it.
class Daemon {
 public:
  explicit Daemon(const DaemonOptions& options = {});

  void start();
  // Sends `signal` and waits for the end.
  std::optional<support::ExitStatus> stop(int signal = SIGTERM);
  [[nodiscard]] support::Process& process() { return *process_; }

  // Replaces the first `from` of its configuration by `to`. Throws if there is none.
  void configure(const std::string& from, const std::string& to) const;

  // Runs `allot` with this daemon's configuration.
  [[nodiscard]] support::Finished allot(std::vector<std::string> arguments,
                                        const std::string& input = {}) const;
  // The same; expects success, and returns the output.
  std::string must(const std::vector<std::string>& arguments) const;
  // Submits one task to queue "default" and returns its id.
  [[nodiscard]] std::string submit(const std::string& type, const std::string& payload) const;
  void submit_many(const std::string& type, const std::vector<std::string>& payloads) const;
  // Submits tasks with the keys of NDJSON; to queue "default" unless they name another.
  void submit_all(const std::vector<nlohmann::json>& tasks) const;

  [[nodiscard]] nlohmann::json status() const;
  [[nodiscard]] nlohmann::json task(const std::string& id) const;
  // Pids of the workers in the slot table, of those inside a handler, of all descendants of allotd.
  [[nodiscard]] std::vector<pid_t> workers() const;
  [[nodiscard]] std::vector<pid_t> busy_workers() const;
  // Workers that have become ready since the start, in order, from its text log.
  [[nodiscard]] std::vector<pid_t> ready_workers() const;
  // Pid of its steward, once it is ready; 0: none.
  [[nodiscard]] pid_t steward() const;

  [[nodiscard]] bool drained() const;
  // Waits for an empty queue, up to a minute.
  [[nodiscard]] bool drains() const;
  [[nodiscard]] std::uint64_t count(const std::string& table) const;
  // Number of leased partitions.
  [[nodiscard]] std::uint64_t leases() const;
  // support::value_of() and number_of() on a separate connection.
  [[nodiscard]] std::string value(const std::string& sql) const;
  [[nodiscard]] std::uint64_t number(const std::string& sql) const;
  // Lines that test.write appended, in order of execution.
  [[nodiscard]] std::vector<std::string> written() const;

  [[nodiscard]] std::string log() const;
  [[nodiscard]] bool logged(const std::string& text) const;
  [[nodiscard]] std::size_t times_logged(const std::string& text) const;

  [[nodiscard]] const std::string& database() const { return database_; }
  [[nodiscard]] const std::string& config_file() const { return config_file_; }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  // File that a task of type test.gate waits for: its payload is "VERDICT " + gate().
  [[nodiscard]] std::string gate() const { return folder_ / "gate"; }
  void open_gate() const { (void)folder_.write("gate", ""); }
  // For attempts of that number only.
  void open_gate(int attempt) const { (void)folder_.write("gate." + std::to_string(attempt), ""); }
  [[nodiscard]] db::Connection connect() const;

 private:
  support::TempDir folder_;
  std::string allotd_;
  support::Database& server_;
  std::string database_;
  std::string config_file_;
  std::unique_ptr<support::Process> process_;
};

// Waits until this number of workers have become ready since the start: status() then names each of
// them.
void wait_ready(const Daemon& daemon, std::size_t workers);
// workers(), sorted.
std::vector<pid_t> sorted_workers(const Daemon& daemon);
// Waits until this number of tasks have left their partition, and continue to run.
[[nodiscard]] bool detached(const Daemon& daemon, std::uint64_t tasks = 1);

// Simulates a host that goes down. Stops the supervisor first, which must not settle, and whose
// death would interrupt the handlers. Returns the killed workers.
std::vector<pid_t> kill_all_of(Daemon& daemon);

// For several daemons: the first returns when this number of workers of each are ready, the second
// when all have ended in an orderly way.
void start_all(const std::vector<std::unique_ptr<Daemon>>& daemons, std::size_t workers = 1);
void stop_all(const std::vector<std::unique_ptr<Daemon>>& daemons);

// Payloads: `prefix` followed by the numbers below `count`.
std::vector<std::string> numbered(int count, const std::string& prefix = {});

// Creates the queue that hooks fill. It is not served, so that a test can count its tasks.
void make_ops(const Daemon& daemon);

// The folder of the programs under test, and of the test plugins.
std::string program(const std::string& name);
std::string probe_folder();
std::string exec_plugin();  // path of the file

}  // namespace allot::e2e
