// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/bulk.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/sources/input.h"
#include "cli/sources/known_types.h"
#include "cli/sources/queues.h"
#include "cli/sources/ring_local.h"
#include "cli/words/terminal.h"
#include "json/task_reader.h"
#include "queue/submit/owners.h"
#include "queue/submit/submit.h"

namespace allot::cli {
namespace {

// A batch also ends with the payload that brings it to this many bytes, because a thousand large
// payloads would fill the memory.
constexpr std::size_t kFullBatchBytes = std::size_t{16} << 20;

std::string range(std::uint64_t first, std::uint64_t last) {
  if (first == last) return "line " + std::to_string(first);
  return "lines " + std::to_string(first) + " to " + std::to_string(last);
}

// Reads lines into batches and submits each batch as one transaction. If it ends early, it says
// which lines are in and how to go on.
class Bulk {
 public:
  Bulk(const config::Settings& settings, db::Connection& db, const BulkOptions& options,
       Input& input)
      : settings_(settings),
        db_(db),
        options_(options),
        input_(input),
        queues_(db, settings),
        known_types_(settings),
        progress_(input.size(), !(options.ids && is_terminal(STDOUT_FILENO))) {}

  void run() {
    std::string text;
    while (read(text)) {
      if (line_ < options_.from_line) continue;
      add(text);
      if (batch_.size() >= options_.batch || batch_bytes_ >= kFullBatchBytes) flush();
    }
    if (interrupted()) throw Error("interrupted; " + so_far() + go_on());
    flush();
    progress_.wipe();
    known_types_.warn();
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

  // `error` ended the submission; nullptr: none did.
  void print_json(const Error* error) const {
    const int code = error == nullptr ? kExitOk : error->exit_code();
    nlohmann::ordered_json report = {
        {"ok", error == nullptr}, {"exit_code", code},    {"error", nullptr},
        {"tasks", tasks_},        {"existed", existed_},  {"states", owners_},
        {"batches", batches_},    {"next_line", nullptr}, {"unknown_lines", nullptr}};
    if (error != nullptr) report["error"] = error->what();
    if (code == kExitOutcomeUnknown) {
      report["unknown_lines"] = {first_of_batch_, last_of_batch_};
    } else if (error != nullptr) {
      report["next_line"] = next_line();
    }
    // The name of a file may be any bytes.
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
      throw Error(error.what() + ("; " + so_far()) + go_on(), error.exit_code());
    }
  }

  void add(const std::string& text) {
    try {
      auto line = as_json::read_task(text);
      if (!line) return;
      queue::Submission task{queues_.address(line->queue, line->type), line->type,
                             std::move(line->payload), line->options};
      queues_.complete(task.queue.name, task.options);
      queue::validate(task);
      if (batch_.empty()) first_of_batch_ = line_;
      last_of_batch_ = line_;
      batch_bytes_ += task.payload.size();
      batch_.push_back(std::move(task));
      asked_.push_back(std::move(line->queue));
    } catch (const db::DbError& error) {
      throw Error(input_.name() + ": " + range(next_line(), line_) +
                      " not submitted: " + error.what() + "; " + so_far() + go_on(),
                  error.exit_code());
    } catch (const Error& error) {
      refuse_line(error);
    }
  }

  // A batch may have waited for its last line while somebody set a route.
  void address_again() {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      queue::Submission& task = batch_[i];
      const queue::QueueInfo& now = queues_.address(asked_[i], task.type);
      if (now.queue_id != task.queue.queue_id) {
        task.queue = now;
        queue::validate(task);
      }
      known_types_.submitted(task.queue.name, task.type);
    }
  }

  void flush() {
    if (batch_.empty()) return;
    const std::string lines = input_.name() + ": " + range(first_of_batch_, last_of_batch_);
    std::vector<queue::Submitted> made;
    try {
      address_again();
      made = queue::submit(db_, batch_);
    } catch (const queue::OutcomeUnknown& error) {
      throw Error(lines + ": outcome unknown: " + error.what() + "; " + so_far() +
                      "; find out whether they are there, then go on with --from-line " +
                      std::to_string(last_of_batch_ + 1) + " if so, with --from-line " +
                      std::to_string(first_of_batch_) + " if not",
                  kExitOutcomeUnknown);
    } catch (const Error& error) {
      throw Error(lines + " not submitted: " + error.what() + "; " + so_far() + go_on(),
                  error.exit_code());
    }
    const auto existed = static_cast<std::uint64_t>(
        std::count_if(made.begin(), made.end(), [](const auto& task) { return task.existed; }));
    ring_local(settings_, queue::new_tasks(made));
    for (const queue::Owner owner : queue::owners(db_, batch_, made)) {
      if (const char* state = queue::name_of(owner)) ++owners_[state];
    }
    print(made);
    tasks_ += made.size() - existed;
    existed_ += existed;
    ++batches_;
    last_submitted_ = last_of_batch_;
    batch_.clear();
    asked_.clear();
    batch_bytes_ = 0;
    progress_.show(input_.handed_out(), tasks_);
  }

  void print(const std::vector<queue::Submitted>& made) const {
    if (!options_.ids) return;
    for (const queue::Submitted& task : made) std::printf("%s\n", task.id.text().c_str());
    // With the flush, a reader has the ids of all tasks that are in, even if this process is killed
    // now.
    std::fflush(stdout);
  }

  [[noreturn]] void refuse_line(const Error& error) const {
    throw Error(input_.name() + ":" + std::to_string(line_) + ": " + error.what() + "; " +
                    so_far() + "; fix the line" + go_on(),
                error.exit_code());
  }

  [[nodiscard]] std::string so_far() const {
    if (tasks_ == 0) return "nothing was submitted";
    return range(options_.from_line, last_submitted_) + " submitted (" + std::to_string(tasks_) +
           " tasks), nothing from line " + std::to_string(next_line()) + " on";
  }
  [[nodiscard]] std::string go_on() const {
    return "; go on with --from-line " + std::to_string(next_line());
  }
  // The first line that is not in.
  [[nodiscard]] std::uint64_t next_line() const { return batch_.empty() ? line_ : first_of_batch_; }

  const config::Settings& settings_;
  db::Connection& db_;
  const BulkOptions& options_;
  Input& input_;
  Queues queues_;
  KnownTypes known_types_;
  Progress progress_;
  std::vector<queue::Submission> batch_;
  std::vector<std::string> asked_;  // the queue that each line names; empty: none
  std::size_t batch_bytes_ = 0;
  std::uint64_t line_ = 0;  // from 1, as editors count
  std::uint64_t first_of_batch_ = 0;
  std::uint64_t last_of_batch_ = 0;
  std::uint64_t last_submitted_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t existed_ = 0;                    // unique keys that were taken
  std::map<std::string, std::uint64_t> owners_;  // the same by the state of the tasks that had them
  std::uint64_t batches_ = 0;
};

}  // namespace

int submit_lines(const Context& context, const BulkOptions& options) {
  const config::Settings settings = context.settings();
  Input input(options.ndjson);
  db::Connection db = connect(settings);
  note_interrupts();
  Bulk bulk(settings, db, options, input);
  try {
    bulk.run();
  } catch (const Error& error) {
    if (options.json) bulk.print_json(&error);
    throw;
  }
  return kExitOk;
}

}  // namespace allot::cli
