// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "bench/child.h"
#include "config/settings.h"
#include "db/connection.h"

namespace allot::bench {

struct Load {
  std::uint32_t tasks = 200'000;
  std::uint32_t workers = 2;
  std::uint32_t block = 100;
  std::uint32_t block_seconds = 1;
  std::uint32_t payload = 100;   // bytes
  std::uint32_t partitions = 0;  // 0: four per worker
  std::uint32_t concurrency = 1;
  bool fireworq = false;    // the workers serve the queues of Fireworq's programs
  bool binary_log = false;  // a private database writes one, row-based

  [[nodiscard]] std::uint32_t partition_count() const {
    return partitions != 0 ? partitions : 4 * workers;
  }
};

inline constexpr std::uint32_t kSubmitBatch = 1000;  // tasks in one transaction

// A folder or file of the installation, by its name below `share`. The build folder has the same
// layout.
[[nodiscard]] std::string shared(const std::string& name);

// A text as a TOML string.
[[nodiscard]] std::string toml_text(const std::string& text);

// Database of a benchmark: exactly one of the two.
struct Place {
  std::string embedded;  // folder of a private server
  std::string socket;    // of a running server, whose root needs no password
};

// Daemon with a configuration that differs from the other benchmarks.
struct DaemonVariant {
  std::uint32_t workers = 2;
  std::string sections{};   // added to the configuration
  bool other_host = false;  // separate runtime folder and, as root, separate namespaces of network
                            // and host name
};

// Everything that a run needs, in a folder: a database, a configuration, the daemon. On a running
// server it creates a database, and drops it at the end.
class Stage {
 public:
  // Starts a private server if configured, and brings the schema up to date. Throws Error if the
  // folder contains anything but an earlier benchmark, or the server has a database of that name.
  Stage(const Place& place, const Load& load);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  [[nodiscard]] const config::Settings& settings() const { return settings_; }
  [[nodiscard]] db::ConnectOptions connect_options() const;
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string log_file() const { return folder_ + "/bench.log"; }
  [[nodiscard]] std::string runtime_dir() const { return folder_ + "/run"; }

  // Starts allotd with its workers.
  [[nodiscard]] std::unique_ptr<Child> start_daemon() const;
  // Writes a configuration with the plugins of the installation, the plugin of the benchmarks and
  // these sections. Returns its file.
  [[nodiscard]] std::string write_config_of_plugins(const std::string& sections) const;
  [[nodiscard]] std::unique_ptr<Child> start_daemon(const std::string& config_file) const;
  [[nodiscard]] std::unique_ptr<Child> start_daemon(const DaemonVariant& variant) const;
  // Starts client `number`, counted from 0, of the floor.
  [[nodiscard]] std::unique_ptr<Child> start_floor(std::uint32_t queue_id,
                                                   std::uint32_t number) const;
  // Starts allot-gateway alone, with these sections in a configuration file.
  [[nodiscard]] std::unique_ptr<Child> start_gateway(const std::string& name,
                                                     const std::string& sections) const;
  // Starts the command line.
  [[nodiscard]] std::unique_ptr<Child> start_allot(std::vector<std::string> words) const;

 private:
  void write_config(const std::string& database);
  [[nodiscard]] std::string common(const std::string& instance,
                                   const std::string& runtime_dir) const;
  [[nodiscard]] std::string pool(std::uint32_t workers) const;
  [[nodiscard]] std::string plugins_of_all() const;
  void start_private();
  void wait_for_database();
  void make_database(const std::string& socket);

  std::string folder_;
  UniqueFd only_one_{};  // for the folder of a private database
  Load load_;
  std::string database_keys_;  // of [database]
  std::string common_;         // common part of all configurations of the instance "bench"
  config::Settings settings_;
  std::unique_ptr<Child> database_;
  bool made_ = false;  // the database, on a running server
};

}  // namespace allot::bench
