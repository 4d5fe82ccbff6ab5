// SPDX-License-Identifier: Apache-2.0
#include "cli/words/task_view.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "json/fields.h"

namespace allot::cli {
namespace {

using nlohmann::json;

std::string decimal(std::uint64_t value, std::uint64_t unit, int digits, const char* name) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits,
                static_cast<double>(value) / static_cast<double>(unit), name);
  return text.data();
}

// Last column of a list.
std::string remark(const json& task) {
  if (task.at("state") == "dead") return why_text(task, kShownError);
  const std::string holder = as_json::text_in(task, "running_on");
  return holder.empty() ? "" : "running on " + printable(holder, 100);
}

}  // namespace

queue::TaskId parse_task_id(const std::string& word) {
  const auto id = queue::TaskId::parse(word);
  if (!id) throw Error("'" + printable(word, 40) + "' is not a task id", kExitUsage);
  return *id;
}

std::string task_path(const std::string& word) {
  return "/tasks/" + parse_task_id(word).text();
}

std::string seconds_of(const json& us) {
  return us.is_null() ? "-" : decimal(us, 1'000'000, 3, "s");
}

std::string megabytes_of(const json& kib) {
  return kib.is_null() ? "-" : decimal(kib, 1024, 0, "MiB");
}

std::string why_text(const json& ended, std::size_t most) {
  const std::string error = as_json::text_in(ended, "error");
  return printable(ended.at("cause").get<std::string>() + (error.empty() ? "" : ": " + error),
                   most);
}

std::vector<Column> task_columns(const std::string& time, const std::string& last) {
  const auto time_of = [](const json& task) {
    return cell_of(task, task.at("state") == "dead" ? "died_at" : "due_at");
  };
  return {{"TASK", "task"},
          {"QUEUE", "queue"},
          {"TYPE", "type"},
          {"PRIO", "prio"},
          {"ATTEMPTS", "attempts_charged"},
          {"BYTES", "payload_size"},
          {time, time_of},
          {last, remark}};
}

void add_usage(std::vector<Column>& columns) {
  columns.insert(columns.end(),
                 {{"RAN", [](const json& run) { return seconds_of(run.at("runtime_us")); }},
                  {"CPU", [](const json& run) { return seconds_of(run.at("cpu_us")); }},
                  {"MEMORY", [](const json& run) { return megabytes_of(run.at("max_rss_kib")); }},
                  {"WORKER", "worker"}});
}

void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json) {
  if (json || shown < limit) return;
  std::fprintf(stderr, "queue %s: at most %u are shown, see --limit\n", queue.c_str(), limit);
}

}  // namespace allot::cli
