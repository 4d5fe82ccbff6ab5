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
  std::uint32_t partitions = 0;  // 0: four for each worker
  std::uint32_t concurrency = 1;
  bool fireworq = false;    // the workers serve the queues of its programs
  bool binary_log = false;  // a private database writes one, of rows

  [[nodiscard]] std::uint32_t partition_count() const {
    return partitions != 0 ? partitions : 4 * workers;
  }
};

inline constexpr std::uint32_t kSubmitBatch = 1000;  // tasks in one transaction

// A folder or file of the installation, by the name that it has below `share`. In the build it lies
// in the same place of the build's folder.
[[nodiscard]] std::string shared(const std::string& name);

// A text as TOML has it.
[[nodiscard]] std::string toml_text(const std::string& text);

// Where a benchmark has its database: one of the two.
struct Place {
  std::string embedded;  // the folder of a private server
  std::string socket;    // of a server that runs, whose root needs no password
};

// A daemon whose configuration differs from that of the other benchmarks.
struct DaemonVariant {
  std::uint32_t workers = 2;
  std::string sections{};   // added to its configuration
  bool other_host = false;  // with a runtime folder of its own and, as root, namespaces of another
                            // host: network and host name
};

// Everything that a run needs, in a folder of its own: a database, a configuration, the daemon. At
// a server that runs the database is its own, too, and is dropped at the end.
class Stage {
 public:
  // Starts the server where it is private, and brings the schema up to date. Throws Error when the
  // folder holds anything but an earlier benchmark, or the server has a database of that name.
  Stage(const Place& place, const Load& load);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  [[nodiscard]] const config::Settings& settings() const { return settings_; }
  [[nodiscard]] db::ConnectOptions connect_options() const;
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string log_file() const { return folder_ + "/bench.log"; }
  [[nodiscard]] std::string runtime_dir() const { return folder_ + "/run"; }

  // allotd with its workers.
  [[nodiscard]] std::unique_ptr<Child> start_daemon() const;
  // Writes a configuration with the plugins of the installation beside that of the benchmarks, and
  // with these sections. Returns its file.
  [[nodiscard]] std::string write_config_of_plugins(const std::string& sections) const;
  [[nodiscard]] std::unique_ptr<Child> start_daemon(const std::string& config_file) const;
  [[nodiscard]] std::unique_ptr<Child> start_daemon(const DaemonVariant& variant) const;
  // One of the floor's clients, the one with that number from 0.
  [[nodiscard]] std::unique_ptr<Child> start_floor(std::uint32_t queue_id,
                                                   std::uint32_t number) const;
  // allot-gateway, alone, with these sections in a configuration of its own.
  [[nodiscard]] std::unique_ptr<Child> start_gateway(const std::string& name,
                                                     const std::string& sections) const;
  // The command line.
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
  UniqueFd only_one_{};  // of the folder of a private database
  Load load_;
  std::string database_keys_;  // of [database]
  std::string common_;         // what all configurations of the instance "bench" have
  config::Settings settings_;
  std::unique_ptr<Child> database_;
  bool made_ = false;  // the database, at a server that runs
};

}  // namespace allot::bench
