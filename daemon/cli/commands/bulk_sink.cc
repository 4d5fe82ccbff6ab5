// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bulk_sink.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/sources/known_types.h"
#include "cli/sources/queues.h"
#include "json/task_reader.h"
#include "queue/submit/owners.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class DatabaseSink final : public BulkSink {
 public:
  DatabaseSink(const config::Settings& settings, db::Connection& db, bool ids)
      : db_(db), ids_(ids), submitter_(submitter_of(settings)), known_types_(settings) {}

  std::optional<std::size_t> add(const std::string& text) override {
    auto task = as_json::read_task(text);
    if (!task) return std::nullopt;
    submitter_.prepare(db_, {&*task, 1});
    batch_.push_back(std::move(*task));
    return batch_.back().payload.size();
  }

  BatchMade submit() override {
    for (queue::Submission& task : batch_) {
      // A route may have changed while the batch waited for its last line.
      submitter_.prepare(db_, {&task, 1});
      known_types_.submitted(task.queue.name, task.type);
    }
    BatchMade result;
    for (const queue::Submitted& task : submitter_.submit(db_, batch_)) {
      ++(task.existed() ? result.existed : result.tasks);
      if (const char* state = queue::name_of(task.owner)) ++result.states[state];
      if (ids_) result.ids.push_back(task.id.text());
    }
    batch_.clear();
    return result;
  }

  void warn() override { known_types_.warn(db_); }

 private:
  db::Connection& db_;
  bool ids_;
  queue::Submitter submitter_;
  KnownTypes known_types_;
  std::vector<queue::Submission> batch_{};
};

// Sends a batch as one request: the client does not read a response while it writes.
class GatewaySink final : public BulkSink {
 public:
  GatewaySink(const remote::Session& gateway, bool ids) : gateway_(gateway), ids_(ids) {}

  // Errors that only the gateway detects, such as an unknown queue, concern the whole batch.
  std::optional<std::size_t> add(const std::string& text) override {
    const auto task = as_json::read_task(text, as_json::Source::kHttp);
    if (!task) return std::nullopt;
    queue::validate(task->type, task->payload, task->options);
    lines_ += text + "\n";
    ++tasks_;
    return task->payload.size();
  }

  BatchMade submit() override {
    const std::string path = "/tasks?batch=" + std::to_string(tasks_) + (ids_ ? "&ids=true" : "");
    const Answer answer = gateway_.ask({"POST", path, std::move(lines_), "application/x-ndjson"});
    BatchMade made = read(answer.body);
    lines_.clear();
    tasks_ = 0;
    return made;
  }

 private:
  static BatchMade read(const std::string& body) {
    try {
      return made_of(body);
    } catch (const json::exception&) {
      throw Error("the gateway's response ended before its last line", kExitOutcomeUnknown);
    }
  }

  // Response: one line for each batch (here exactly one) and a final line with the outcome.
  static BatchMade made_of(std::string_view body) {
    BatchMade made;
    json line;
    while (!body.empty()) {
      const std::size_t end = std::min(body.find('\n'), body.size());
      line = json::parse(body.substr(0, end));
      body.remove_prefix(std::min(end + 1, body.size()));
      if (const auto ids = line.find("ids"); ids != line.end()) {
        for (const json& id : *ids) made.ids.push_back(id.get<std::string>());
      }
    }
    if (!line.at("ok").get<bool>()) refuse(line.at("problem"));
    made.tasks = line.at("tasks").get<std::uint64_t>();
    made.existed = line.at("existed").get<std::uint64_t>();
    made.states = line.at("states").get<std::map<std::string, std::uint64_t>>();
    return made;
  }

  // "line 3: queue 'x' does not exist" refers to the third task of the batch.
  [[noreturn]] static void refuse(const json& problem) {
    const auto status = problem.at("status").get<unsigned>();
    constexpr std::string_view kHead = "line ";
    const auto text = problem.at("detail").get<std::string>();
    const std::size_t colon = text.find(": ");
    std::size_t line = 0;
    if (text.starts_with(kHead) && colon != std::string::npos) {
      std::from_chars(text.data() + kHead.size(), text.data() + colon, line);
    }
    if (line == 0) throw remote::refused_as(status, problem);
    throw RefusedTask(line - 1, text.substr(colon + 2));
  }

  const remote::Session& gateway_;
  bool ids_;
  std::string lines_{};
  std::size_t tasks_ = 0;
};

}  // namespace

std::unique_ptr<BulkSink> database_sink(const config::Settings& settings, db::Connection& db,
                                        bool ids) {
  return std::make_unique<DatabaseSink>(settings, db, ids);
}

std::unique_ptr<BulkSink> gateway_sink(const remote::Session& gateway, bool ids) {
  return std::make_unique<GatewaySink>(gateway, ids);
}

}  // namespace allot::cli
