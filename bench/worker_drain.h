// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/meter.h"
#include "bench/stage.h"
#include "queue/model/catalog.h"

namespace allot::bench {

// Processor time of a drain, in microseconds for each task, with the start of the workers.
struct DrainCost {
  double workers = 0;
  double programs = 0;  // that they have started
  double server = 0;
  double own = 0;  // of this process, which may be a target
};

// Drains tasks of one type after the other through the real daemon with the plugins of the
// installation.
class WorkerDrain {
 public:
  WorkerDrain(const Place& place, const Load& load);

  // Before the first drain: the sections of the plugins. Returns the configuration of the daemon.
  config::Settings configure(const std::string& sections);
  // Submits so many tasks, and tells how many a second the daemon did once it had begun.
  double rate(const std::string& type, std::uint32_t tasks);
  // Of the last drain.
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
