// SPDX-License-Identifier: Apache-2.0
#include "cli/words/instance_text.h"

#include <nlohmann/json.hpp>

#include "cli/words/text.h"

namespace allot::cli {

using nlohmann::json;

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

std::string progress_text(const json& task) {
  const std::string word = cell_of(task, "progress_text");
  return task.at("progress").dump() + " %" + (word.empty() ? "" : " " + word);
}

std::string running_text(const json& worker) {
  const json& running = worker.at("running");
  if (running.empty()) return "-";
  const json& task = running.front();
  std::string text = cell_of(task, "task") + " " + cell_of(task, "type") + " for " +
                     how_long(task.at("running_ms"));
  if (task.at("attempt") > 1) text += ", attempt " + task.at("attempt").dump();
  if (task.at("detached")) text += ", detached";
  if (!task.at("progress").is_null()) text += ", " + progress_text(task);
  if (running.size() > 1) text += ", and " + std::to_string(running.size() - 1) + " more";
  return text;
}

std::string partition_text(const json& worker) {
  if (worker.at("queue").is_null()) return "-";
  return cell_of(worker, "queue") + "/" + worker.at("partition").dump();
}

}  // namespace allot::cli
