// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/meter.h"
#include "bench/stage.h"
#include "queue/model/catalog.h"

namespace allot::bench {

// Processor time of a drain, in microseconds per task, including the start of the workers.
struct DrainCost {
  double workers = 0;
  double programs = 0;  // of the programs that they started
  double server = 0;
  double own = 0;  // of this process, which may be the target
};

// Drains tasks of one type after another through the real daemon with the plugins of the
// installation.
class WorkerDrain {
 public:
  WorkerDrain(const Place& place, const Load& load);

  // Call before the first drain, with the sections of the plugins. Returns the configuration of the
  // daemon.
  config::Settings configure(const std::string& sections);
  // Submits `tasks` tasks. Returns tasks per second after the daemon has begun.
  double rate(const std::string& type, std::uint32_t tasks);
  // Cost of the last drain.
  [[nodiscard]] const DrainCost& cost() const { return cost_; }
  [[nodiscard]] const Stage& stage() const { return stage_; }
  [[nodiscard]] std::string server();

 private:
  Load load_;
  Stage stage_;
  std::string config_file_{};
  db::Connection db_;
  Meter meter_;
  queue::QueueInfo queue_;
  DrainCost cost_;
};

}  // namespace allot::bench
