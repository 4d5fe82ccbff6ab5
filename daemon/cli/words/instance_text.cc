// SPDX-License-Identifier: Apache-2.0
#include "cli/words/instance_text.h"

#include "base/names.h"
#include "cli/words/text.h"
#include "queue/model/task.h"

namespace allot::cli {

std::string stewards_text(const InstanceView& view) {
  std::string text = "steward:";
  if (view.stewards.empty()) return text + " none";
  for (const WorkerView& steward : view.stewards) {
    text += text.back() == ':' ? " " : "; ";
    text += "slot " + std::to_string(steward.slot) + ", pid " + std::to_string(steward.pid) + ", " +
            steward.state + (steward.database_unreachable ? ", its database is away" : "");
  }
  return text;
}

std::vector<std::string> instance_troubles(const InstanceView& view,
                                           const config::Settings& settings) {
  std::vector<std::string> lines;
  for (const host::FailingPool& pool : view.failing) {
    lines.push_back("pool " + printable(pool.pool, sizeof(ipc::Slot::pool_name)) +
                    ": workers end before they are ready (" + pool.how + "), " +
                    std::to_string(pool.failures) + " time" + (pool.failures == 1 ? "" : "s") +
                    " in a row; see worker.died and the lines before it in the log");
  }
  if (host::runs_former_configuration(view, settings.files)) {
    lines.push_back("configuration: " + printable(settings.file, 4096) +
                    " was changed and not loaded: send allotd HUP (systemctl reload allotd)");
  }
  return lines;
}

std::string progress_text(const queue::Progress& progress) {
  std::string text = std::to_string(progress.percent.value_or(0)) + " %";
  if (!progress.word.empty()) text += " " + printable(progress.word, queue::Progress::kMostWord);
  return text;
}

std::string running_text(const std::vector<WorkerView::Running>& running) {
  if (running.empty()) return "-";
  const auto& task = running.front();
  std::string text =
      task.task + " " + printable(task.type, kMaxTypeName) + " for " + how_long(task.running_ms);
  if (task.attempt > 1) text += ", attempt " + std::to_string(task.attempt);
  if (task.detached) text += ", detached";
  if (task.progress.percent) text += ", " + progress_text(task.progress);
  if (running.size() > 1) text += ", and " + std::to_string(running.size() - 1) + " more";
  return text;
}

std::string partition_text(const WorkerView& worker) {
  if (!worker.leases) return "-";
  return printable(worker.queue, kMaxQueueName) + "/" + std::to_string(worker.partition);
}

}  // namespace allot::cli
