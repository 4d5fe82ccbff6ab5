// SPDX-License-Identifier: Apache-2.0
#include "operations/submission.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/number.h"
#include "json/printable.h"
#include "json/task_json.h"
#include "operations/call.h"
#include "queue/model/task_facts.h"

namespace allot::operations {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kMostBatch = 100'000;
constexpr std::uint32_t kMostLine = 4'000'000'000U;
std::string line_of(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Adds the number of the line to an error of its task.
template <typename Act>
void in_line(std::uint64_t line, Act act) {
  try {
    act();
  } catch (const Error& error) {
    if (error.exit_code() != kExitBadInput) throw;
    throw Refusal({400, "line " + std::to_string(line) + ": " + error.what(),
                   as_json::field_of(error.what())});
  }
}

std::uint32_t number_of(const std::string& name, const std::string& text, std::uint32_t most) {
  const auto value = config::whole_number<std::uint32_t>(text);
  if (value && *value >= 1 && *value <= most) return *value;
  refuse(400, "'" + name + "' must be a whole number, 1 to " + std::to_string(most), name);
}

}  // namespace

as_json::TaskBody read_tasks(std::string_view type, const Values& query, std::string body) {
  as_json::TaskBody read;
  if (type == kRaw) {
    for (const char* field : {"payload", "payload_base64"}) {
      if (!query.contains(field)) continue;
      refuse(400, "the body is the payload, so the query must not have one", field);
    }
    read.tasks.push_back(as_json::task_of(query, std::move(body)));
  } else {
    if (!query.empty()) {
      refuse(400, "options in the query require application/octet-stream; in JSON they are fields");
    }
    read = as_json::read_body(body);
  }
  if (read.tasks.empty()) refuse(400, "the array has no tasks");
  return read;
}

Document made_answer(const std::vector<queue::Submitted>& made, bool several,
                     const std::string& base_path) {
  nlohmann::json list = nlohmann::json::array();
  for (const queue::Submitted& task : made) list.push_back(as_json::submitted(task));
  const bool any =
      std::any_of(made.begin(), made.end(), [](auto& task) { return !task.existed(); });
  Document document = answer_of(several ? list : list.front(), any ? 201 : 200);
  if (!several) {
    document.fields = {{"location", base_path + "/api/v1/tasks/" + made.front().id.text()}};
  }
  return document;
}

void join_trace(queue::SubmitOptions& options, const queue::Trace& trace) {
  if (trace.parent.empty() || !options.traceparent.empty()) return;
  options.traceparent = trace.parent;
  options.tracestate = trace.state;
}

LineOptions line_options_of(const Values& query) {
  LineOptions options;
  for (const auto& [name, value] : query) {
    if (name == "batch") {
      options.batch = number_of(name, value, kMostBatch);
    } else if (name == "from_line") {
      options.from_line = number_of(name, value, kMostLine);
    } else if (name == "ids" && (value == "true" || value == "false")) {
      options.ids = value == "true";
    } else {
      const std::string shown = as_json::printable(name, 60);
      refuse(400, "'" + shown + "': NDJSON allows batch=LINES, from_line=LINE and ids=true", shown);
    }
  }
  return options;
}

void Lines::read(db::Connection& db, queue::Submitter& submitter, const std::string& text,
                 const queue::Permit& permit) {
  ++line_;
  if (line_ < options_.from_line) return;
  in_line(line_, [&] {
    auto task = as_json::read_task(text, options_.source);
    if (!task) return;
    join_trace(task->options, options_.trace);
    submitter.prepare(db, {&*task, 1}, permit);
    batch_bytes_ += text.size();
    batch_.push_back(std::move(*task));
    batch_lines_.push_back(line_);
  });
}

bool Lines::is_full() const {
  return batch_.size() >= options_.batch || batch_bytes_ >= kFullBatchBytes;
}

std::string Lines::report(const std::vector<queue::Submitted>& made) {
  std::uint64_t existed = 0;
  ordered_json ids = ordered_json::array();
  for (const queue::Submitted& task : made) {
    if (task.existed()) ++existed;
    if (const char* state = queue::name_of(task.owner)) ++owners_[state];
    if (options_.ids) ids.push_back(task.id.text());
  }
  const std::uint64_t tasks = made.size() - existed;
  tasks_ += tasks;
  existed_ += existed;
  ++batches_;
  ordered_json document{{"first_line", batch_lines_.front()},
                        {"last_line", batch_lines_.back()},
                        {"tasks", tasks},
                        {"existed", existed}};
  if (options_.ids) document["ids"] = std::move(ids);
  batch_.clear();
  batch_lines_.clear();
  batch_bytes_ = 0;
  in_ = line_;
  return line_of(document);
}

std::string Lines::end(std::string_view problem, bool unknown) const {
  ordered_json document{{"ok", problem.empty()}, {"problem", nullptr},      {"tasks", tasks_},
                        {"existed", existed_},   {"states", owners_},       {"batches", batches_},
                        {"next_line", nullptr},  {"unknown_lines", nullptr}};
  if (problem.empty()) return line_of(document);
  document["problem"] = ordered_json::parse(problem);
  if (unknown && !batch_lines_.empty()) {
    document["unknown_lines"] = {batch_lines_.front(), batch_lines_.back()};
  } else {
    document["next_line"] = next_line();
  }
  return line_of(document);
}

std::uint64_t Lines::next_line() const {
  if (!batch_lines_.empty()) return batch_lines_.front();
  return std::max<std::uint64_t>(in_ + 1, options_.from_line);
}

}  // namespace allot::operations
