// SPDX-License-Identifier: Apache-2.0
#include "cli/words/task_view.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/names.h"
#include "cli/words/text.h"

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
std::string remark(const queue::TaskView& task) {
  if (task.dead) return why_dead(task, kShownError);
  return task.running ? "running on " + printable(task.holder, 100) : "";
}

}  // namespace

void print(const json& value) {
  std::printf("%s\n", value.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

queue::TaskId parse_task_id(const std::string& word) {
  const auto id = queue::TaskId::parse(word);
  if (!id) throw Error("'" + printable(word, 40) + "' is not a task id", kExitUsage);
  return *id;
}

std::string seconds_of(const std::optional<std::uint64_t>& us) {
  return us ? decimal(*us, 1'000'000, 3, "s") : "-";
}

std::string megabytes_of(const std::optional<std::uint64_t>& kib) {
  return kib ? decimal(*kib, 1024, 0, "MiB") : "-";
}

std::vector<std::string> task_heads(const std::string& time, const std::string& remark) {
  return {"TASK", "QUEUE", "TYPE", "PRIO", "ATTEMPTS", "BYTES", time, remark};
}

std::vector<std::string> view_row(const queue::TaskView& task, const std::string& queue) {
  return {task.id.text(),
          queue,
          printable(task.type, kMaxTypeName),
          std::to_string(task.id.prio),
          std::to_string(task.attempts),
          std::to_string(task.payload_size),
          task.at,
          remark(task)};
}

void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json) {
  if (json || shown < limit) return;
  std::fprintf(stderr, "queue %s: at most %u are shown, see --limit\n", queue.c_str(), limit);
}

void refuse_unknown(const queue::TaskId& id) {
  throw Error("no live or dead task has the id " + id.text() + ": it finished, or never existed");
}

}  // namespace allot::cli
