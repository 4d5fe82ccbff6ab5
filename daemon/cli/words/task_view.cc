// SPDX-License-Identifier: Apache-2.0
#include "cli/words/task_view.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/names.h"
#include "cli/words/text.h"
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

void print(const json& value) {
  std::printf("%s\n", value.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

void print_change(const std::string& kind, const json& object, const std::string& text,
                  bool as_json) {
  if (as_json) return print(object);
  std::printf("%s %s %s\n", kind.c_str(), object.at("name").get<std::string>().c_str(),
              text.c_str());
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

std::string why_text(const json& ended, std::size_t most) {
  const std::string error = as_json::text_in(ended, "error");
  return printable(ended.at("cause").get<std::string>() + (error.empty() ? "" : ": " + error),
                   most);
}

std::vector<std::string> view_row(const json& task) {
  return {task.at("task"),
          task.at("queue"),
          printable(task.at("type").get<std::string>(), kMaxTypeName),
          task.at("prio").dump(),
          task.at("attempts_charged").dump(),
          task.at("payload_size").dump(),
          task.at(task.at("state") == "dead" ? "died_at" : "due_at"),
          remark(task)};
}

void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json) {
  if (json || shown < limit) return;
  std::fprintf(stderr, "queue %s: at most %u are shown, see --limit\n", queue.c_str(), limit);
}

}  // namespace allot::cli
