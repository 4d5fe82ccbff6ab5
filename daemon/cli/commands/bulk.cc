// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bulk.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/commands/bulk_sink.h"
#include "cli/sources/input.h"
#include "cli/words/terminal.h"
#include "json/task_reader.h"

namespace allot::cli {
namespace {

// Payload bytes that end a batch early, because a thousand large payloads would fill the memory.
constexpr std::size_t kFullBatchBytes = std::size_t{16} << 20;

std::string range(std::uint64_t first, std::uint64_t last) {
  if (first == last) return "line " + std::to_string(first);
  return "lines " + std::to_string(first) + " to " + std::to_string(last);
}

// Reads lines into batches and submits each batch as one transaction. If it ends early, it reports
// which lines are stored and how to continue.
class Bulk {
 public:
  Bulk(BulkSink& sink, const BulkOptions& options, Input& input)
      : sink_(sink),
        options_(options),
        input_(input),
        progress_(input.size(), !(options.ids && is_terminal(STDOUT_FILENO))) {}

  void run() {
    std::string text;
    while (read(text)) {
      if (line_ < options_.from_line) continue;
      add(text);
      if (lines_.size() >= options_.batch || batch_bytes_ >= kFullBatchBytes) flush();
    }
    if (interrupted()) throw Error("interrupted; " + so_far() + how_to_continue());
    flush();
    progress_.wipe();
    sink_.warn();
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

  void add(const std::string& text) {
    try {
      const auto bytes = sink_.add(text);
      if (!bytes) return;
      lines_.push_back(line_);
      batch_bytes_ += *bytes;
    } catch (const db::DbError& error) {
      throw Error(input_.name() + ": " + range(next_line(), line_) +
                      " not submitted: " + error.what() + "; " + so_far() + how_to_continue(),
                  error.exit_code());
    } catch (const Error& error) {
      refuse_line(error);
    }
  }

  BatchMade submit() {
    const std::string lines = input_.name() + ": " + range(lines_.front(), lines_.back());
    try {
      return sink_.submit();
    } catch (const RefusedTask& error) {
      line_ = lines_.at(std::min(error.at(), lines_.size() - 1));
      refuse_line(error);
    } catch (const Error& error) {
      if (error.exit_code() == kExitOutcomeUnknown) refuse_unknown(lines, error);
      throw Error(lines + " not submitted: " + error.what() + "; " + so_far() + how_to_continue(),
                  error.exit_code());
    }
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
    const BatchMade made = submit();
    print(made);
    for (const auto& [state, count] : made.states) owners_[state] += count;
    tasks_ += made.tasks;
    existed_ += made.existed;
    ++batches_;
    last_submitted_ = lines_.back();
    lines_.clear();
    batch_bytes_ = 0;
    progress_.show(input_.handed_out(), tasks_);
  }

  void print(const BatchMade& made) const {
    if (!options_.ids) return;
    for (const std::string& id : made.ids) std::printf("%s\n", id.c_str());
    // After the flush a reader has the ids of all stored tasks, even if this process is killed now.
    std::fflush(stdout);
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

  BulkSink& sink_;
  const BulkOptions& options_;
  Input& input_;
  Progress progress_;
  std::vector<std::uint64_t> lines_;  // line numbers of the batch
  std::size_t batch_bytes_ = 0;
  std::uint64_t line_ = 0;  // from 1, as editors count
  std::uint64_t last_submitted_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t existed_ = 0;                    // unique keys that existed already
  std::map<std::string, std::uint64_t> owners_;  // existing keys by state of their tasks
  std::uint64_t batches_ = 0;
};

int work_off(BulkSink& sink, const BulkOptions& options, Input& input) {
  note_interrupts();
  Bulk bulk(sink, options, input);
  try {
    bulk.run();
  } catch (const Error& error) {
    if (options.json) bulk.print_json(&error);
    throw;
  }
  return kExitOk;
}

}  // namespace

int submit_lines(const Context& context, const BulkOptions& options) {
  const config::Settings settings = context.settings();
  Input input(options.ndjson);
  db::Connection db = connect(settings);
  return work_off(*database_sink(settings, db, options.ids), options, input);
}

int remote_submit_lines(const remote::Session& gateway, const BulkOptions& options) {
  Input input(options.ndjson);
  return work_off(*gateway_sink(gateway, options.ids), options, input);
}

}  // namespace allot::cli
