// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/child.h"
#include "config/settings.h"
#include "db/connection.h"

namespace allot::bench {

struct Load {
  std::uint32_t tasks = 200'000;
  std::uint32_t workers = 2;
  std::uint32_t block = 100;
  std::uint32_t payload = 100;   // bytes
  std::uint32_t partitions = 0;  // 0: four for each worker

  [[nodiscard]] std::uint32_t partition_count() const {
    return partitions != 0 ? partitions : 4 * workers;
  }
};

inline constexpr std::uint32_t kSubmitBatch = 1000;  // tasks in one transaction

// Everything that a run needs, in a folder of its own: a private database, a configuration, the
// daemon.
class Stage {
 public:
  // Starts the database and brings the schema up to date. Throws Error when the folder holds
  // anything but an earlier benchmark.
  Stage(const std::string& folder, const Load& load);

  [[nodiscard]] const config::Settings& settings() const { return settings_; }
  [[nodiscard]] db::ConnectOptions connect_options() const;
  [[nodiscard]] std::string log_file() const { return folder_ + "/bench.log"; }

  // allotd with its workers.
  [[nodiscard]] std::unique_ptr<Child> start_daemon() const;
  // One of the floor's clients, the one with that number from 0.
  [[nodiscard]] std::unique_ptr<Child> start_floor(std::uint32_t queue_id,
                                                   std::uint32_t number) const;

 private:
  void write_config(const std::string& database) const;
  void wait_for_database();

  std::string folder_;
  Load load_;
  config::Settings settings_;
  std::unique_ptr<Child> database_;
};

}  // namespace allot::bench
