// SPDX-License-Identifier: Apache-2.0
#include "cli/words/instance_text.h"

#include "cli/words/text.h"
#include "queue/model/task.h"

namespace allot::cli {

std::string stewards_text(const InstanceView& view) {
  std::string text = "steward:";
  if (view.stewards.empty()) return text + " none";
  for (const WorkerView& steward : view.stewards) {
    text += text.back() == ':' ? " " : "; ";
    text += "slot " + std::to_string(steward.slot) + ", pid " + std::to_string(steward.pid) + ", " +
            steward.state + (steward.database_away ? ", its database is away" : "");
  }
  return text;
}

std::string running_text(const std::vector<WorkerView::Running>& running) {
  if (running.empty()) return "-";
  const auto& task = running.front();
  std::string text =
      task.task + " " + printable(task.type, queue::kMaxName) + " for " + how_long(task.running_ms);
  if (task.attempt > 1) text += ", attempt " + std::to_string(task.attempt);
  if (task.detached) text += ", detached";
  if (running.size() > 1) text += ", and " + std::to_string(running.size() - 1) + " more";
  return text;
}

std::string partition_text(const WorkerView& worker) {
  if (!worker.leases) return "-";
  return printable(worker.queue, queue::kMaxName) + "/" + std::to_string(worker.partition);
}

}  // namespace allot::cli
