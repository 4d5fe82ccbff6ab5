// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bulk.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "cli/sources/input.h"
#include "cli/sources/local.h"
#include "cli/words/terminal.h"
#include "config/number.h"
#include "json/task_reader.h"
#include "operations/submission.h"

namespace allot::cli {
namespace {

using nlohmann::json;

std::string range(std::uint64_t first, std::uint64_t last) {
  if (first == last) return "line " + std::to_string(first);
  return "lines " + std::to_string(first) + " to " + std::to_string(last);
}

// Reads lines into batches and submits each batch as one transaction. If it ends early, it reports
// which lines are stored and how to continue.
class Bulk {
 public:
  Bulk(const Operations& allot, const BulkOptions& options, Input& input)
      : allot_(allot),
        options_(options),
        input_(input),
        progress_(input.size(), !(options.ids && is_terminal(STDOUT_FILENO))) {}

  void run() {
    std::string text;
    while (read(text)) {
      const bool blank = text.find_first_not_of(" \t\r") == std::string::npos;
      if (blank || line_ < options_.from_line) continue;
      lines_.push_back(line_);
      text_.append(text).append("\n");
      if (lines_.size() >= options_.batch || text_.size() >= operations::kFullBatchBytes) flush();
    }
    if (interrupted()) throw Error("interrupted; " + so_far() + how_to_continue());
    flush();
    progress_.wipe();
    if (allot_.local() != nullptr) allot_.local()->warn_of_tasks();
    if (options_.json) return print_json(nullptr);
    std::fprintf(stderr, "submitted %llu tasks in %llu batches",
                 static_cast<unsigned long long>(tasks_),
                 static_cast<unsigned long long>(batches_));
    if (existed_ > 0) {
      std::fprintf(stderr, "; %llu more existed (", static_cast<unsigned long long>(existed_));
      const char* comma = "";
      for (const auto& [state, count] : owners_) {
        std::fprintf(stderr, "%s%llu %s", comma, static_cast<unsigned long long>(count),
                     state.c_str());
        comma = ", ";
      }
      std::fputc(')', stderr);
    }
    std::fputc('\n', stderr);
  }

  // `error` ended the submission; nullptr: success.
  void print_json(const Error* error) const {
    const int code = error == nullptr ? kExitOk : error->exit_code();
    nlohmann::ordered_json report = {
        {"ok", error == nullptr}, {"exit_code", code},    {"error", nullptr},
        {"tasks", tasks_},        {"existed", existed_},  {"states", owners_},
        {"batches", batches_},    {"next_line", nullptr}, {"unknown_lines", nullptr}};
    if (error != nullptr) report["error"] = error->what();
    if (code == kExitOutcomeUnknown) {
      report["unknown_lines"] = {lines_.front(), lines_.back()};
    } else if (error != nullptr) {
      report["next_line"] = next_line();
    }
    // A file name may contain any bytes.
    using nlohmann::ordered_json;
    std::printf("%s\n", report.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
  }

 private:
  bool read(std::string& text) {
    ++line_;
    try {
      return !interrupted() && input_.next_line(text, as_json::kMaxLine);
    } catch (const Error& error) {
      if (error.exit_code() == kExitBadInput) refuse_line(error);
      throw Error(error.what() + ("; " + so_far()) + how_to_continue(), error.exit_code());
    }
  }

  json submit() {
    const std::string lines = input_.name() + ": " + range(lines_.front(), lines_.back());
    try {
      return send();
    } catch (const Error& error) {
      if (error.exit_code() == kExitOutcomeUnknown) refuse_unknown(lines, error);
      if (dynamic_cast<const operations::Refusal*>(&error) != nullptr) refuse_task(error);
      fail(lines, error);
    }
  }

  // Sends the batch as one request. Returns the final line of the answer, and prints the ids.
  json send() {
    const std::string query =
        "?batch=" + std::to_string(lines_.size()) + (options_.ids ? "&ids=true" : "");
    const operations::Document answer =
        allot_.ask({"POST", "/tasks" + query, std::move(text_), std::string(operations::kNdjson)});
    try {
      return read_answer(answer.text);
    } catch (const json::exception&) {
      throw Error("the gateway's response ended before its last line", kExitOutcomeUnknown);
    }
  }

  json read_answer(const std::string& body) const {
    std::istringstream in(body);
    json line;
    std::vector<std::string> ids;
    for (std::string text; std::getline(in, text);) {
      line = json::parse(text);
      if (line.contains("ids")) line.at("ids").get_to(ids);
    }
    if (!line.at("ok").get<bool>()) {
      const json& problem = line.at("problem");
      throw refusal_of(problem.at("status").get<unsigned>(), problem);
    }
    for (const char* field : {"tasks", "existed", "states"}) static_cast<void>(line.at(field));
    for (const std::string& id : ids) std::printf("%s\n", id.c_str());
    // After the flush a reader has the ids of all stored tasks, even if this process is killed now.
    if (options_.ids) std::fflush(stdout);
    return line;
  }

  // "line 3: queue 'x' does not exist" refers to the third task of the batch. Returns for a refusal
  // of the whole batch.
  void refuse_task(const Error& error) {
    constexpr std::string_view kHead = "line ";
    const std::string_view text = error.what();
    const std::size_t colon = text.find(": ");
    if (!text.starts_with(kHead) || colon == std::string_view::npos) return;
    const auto at =
        config::whole_number<std::size_t>(text.substr(kHead.size(), colon - kHead.size()));
    if (!at || *at == 0) return;
    line_ = lines_.at(std::min(*at, lines_.size()) - 1);
    refuse_line(Error(std::string(text.substr(colon + 2)), kExitBadInput));
  }

  [[noreturn]] void fail(const std::string& lines, const Error& error) const {
    throw Error(lines + " not submitted: " + error.what() + "; " + so_far() + how_to_continue(),
                error.exit_code());
  }

  [[noreturn]] void refuse_unknown(const std::string& lines, const Error& error) const {
    throw Error(lines + ": outcome unknown: " + error.what() + "; " + so_far() +
                    "; find out whether the tasks exist; continue with --from-line " +
                    std::to_string(lines_.back() + 1) + " if so, with --from-line " +
                    std::to_string(lines_.front()) + " if not",
                kExitOutcomeUnknown);
  }

  void flush() {
    if (lines_.empty()) return;
    const json made = submit();
    for (const auto& [state, count] : made.at("states").items()) {
      owners_[state] += count.get<std::uint64_t>();
    }
    tasks_ += made.at("tasks").get<std::uint64_t>();
    existed_ += made.at("existed").get<std::uint64_t>();
    ++batches_;
    last_submitted_ = lines_.back();
    lines_.clear();
    text_.clear();
    progress_.show(input_.handed_out(), tasks_);
  }

  [[noreturn]] void refuse_line(const Error& error) const {
    throw Error(input_.name() + ":" + std::to_string(line_) + ": " + error.what() + "; " +
                    so_far() + "; fix the line" + how_to_continue(),
                error.exit_code());
  }

  [[nodiscard]] std::string so_far() const {
    if (tasks_ == 0) return "nothing was submitted";
    return range(options_.from_line, last_submitted_) + " submitted (" + std::to_string(tasks_) +
           " tasks), nothing from line " + std::to_string(next_line()) + " on";
  }
  [[nodiscard]] std::string how_to_continue() const {
    return "; continue with --from-line " + std::to_string(next_line());
  }
  // First line that is not stored.
  [[nodiscard]] std::uint64_t next_line() const { return lines_.empty() ? line_ : lines_.front(); }

  const Operations& allot_;
  const BulkOptions& options_;
  Input& input_;
  Progress progress_;
  std::vector<std::uint64_t> lines_;  // line numbers of the batch
  std::string text_{};                // of these lines
  std::uint64_t line_ = 0;            // from 1, as editors count
  std::uint64_t last_submitted_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t existed_ = 0;                    // unique keys that existed already
  std::map<std::string, std::uint64_t> owners_;  // existing keys by state of their tasks
  std::uint64_t batches_ = 0;
};

}  // namespace

int submit_lines(const Operations& allot, const BulkOptions& options) {
  Input input(options.ndjson);
  if (const Local* here = allot.local()) static_cast<void>(here->db());
  note_interrupts();
  Bulk bulk(allot, options, input);
  try {
    bulk.run();
  } catch (const Error& error) {
    if (options.json) bulk.print_json(&error);
    throw;
  }
  return kExitOk;
}

}  // namespace allot::cli
