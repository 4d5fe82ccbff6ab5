// SPDX-License-Identifier: Apache-2.0
#include "bench/worker_drain.h"

#include <algorithm>
#include <vector>

#include "bench/processor.h"
#include "queue/submit/submit.h"

namespace allot::bench {

WorkerDrain::WorkerDrain(const Place& place, const Load& load)
    : load_(load),
      stage_(place, load),
      db_(stage_.connect_options()),
      meter_(stage_.connect_options()) {
  queue_ = queue::ensure_queue(db_, "bench", {load_.partition_count()});
}

config::Settings WorkerDrain::configure(const std::string& sections) {
  config_file_ = stage_.write_config_of_plugins(sections);
  config::LoadOptions options;
  options.file = config_file_;
  return config::load(options);
}

double WorkerDrain::rate(const std::string& type, std::uint32_t tasks) {
  const queue::Submission task{queue_, type, std::string(load_.payload, 'x')};
  for (std::uint32_t left = tasks; left > 0;) {
    const std::vector<queue::Submission> batch(std::min(left, kSubmitBatch), task);
    (void)queue::submit(db_, batch);
    left -= static_cast<std::uint32_t>(batch.size());
  }
  meter_.reset();
  const pid_t server = server_at(stage_.settings().database.socket);
  const std::uint64_t server_before = processor_ns(server);
  const std::uint64_t own_before = own_processor_ns();
  const auto allotd = stage_.start_daemon(config_file_);
  const double rate = meter_.rate_once_begun(tasks, [&] { return allotd->running(); });
  const auto each = [tasks](std::uint64_t ran) { return static_cast<double>(ran) / 1e3 / tasks; };
  cost_ = {each(children_processor_ns(allotd->pid())), 0,
           each(processor_ns(server) - server_before), each(own_processor_ns() - own_before)};
  for (const pid_t worker : children_of(allotd->pid())) {
    for (const pid_t program : children_of(worker)) {
      cost_.programs += each(processor_ns(program));
    }
  }
  allotd->stop();
  return rate;
}

std::string WorkerDrain::server() {
  auto rows = db_.execute("SELECT VERSION()");
  return std::string(rows.at(0).next()->text(0));
}

}  // namespace allot::bench
