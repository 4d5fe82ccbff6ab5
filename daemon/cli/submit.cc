// SPDX-License-Identifier: Apache-2.0
#include "cli/submit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/unique_fd.h"
#include "cli/ndjson.h"
#include "ipc/board.h"
#include "queue/submit.h"

namespace allot::cli {
namespace {

// Rings the doorbell of the daemon on this host. Nobody there: the polling floor finds the task.
void ring_local(const config::Settings& settings, std::size_t tasks) {
  try {
    const std::string path = config::runtime_dir(settings) + "/board";
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
    ipc::Board* board = file.valid() ? ipc::map_board(file.get()) : nullptr;
    if (board != nullptr) ipc::ring(*board, static_cast<int>(std::min<std::size_t>(tasks, 1000)));
  } catch (const Error&) {
    // The tasks are submitted; where the board would be is not the submitter's trouble.
  }
}

// Queues by name, looked up once; those that only the configuration knows are made.
class Queues {
 public:
  Queues(db::Connection& db, const config::Settings& settings) : db_(db), settings_(settings) {}

  const queue::QueueInfo& get(const std::string& name) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    auto info = queue::find_queue(db_, name);
    if (!info) {
      const config::Queue* configured = config::find_queue(settings_, name);
      if (configured == nullptr) unknown(name);
      info = queue::ensure_queue(db_, name, configured->partitions);
    }
    return known_.emplace(name, *info).first->second;
  }

 private:
  [[noreturn]] void unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& info : queue::list_queues(db_)) names.push_back(info.name);
    throw Error("queue '" + printable(name, 63) + "' does not exist" + did_you_mean(name, names) +
                    " Add [queues." + printable(name, 63) + "] to the configuration to have it",
                kExitBadInput);
  }

  db::Connection& db_;
  const config::Settings& settings_;
  std::map<std::string, queue::QueueInfo> known_;
};

std::string read_all(std::istream& in) {
  std::string text;
  char buffer[65536];
  while (in.read(buffer, sizeof buffer) || in.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
    if (text.size() > queue::kMaxPayload) break;  // it will be refused; do not swallow the world
  }
  return text;
}

std::string payload_of(const SubmitOptions& options) {
  if (!options.file.empty()) {
    std::ifstream file(options.file, std::ios::binary);
    if (!file) throw Error(options.file + ": cannot be read", kExitNoInput);
    return read_all(file);
  }
  if (options.payload == "-") return read_all(std::cin);
  return options.payload.value_or("");
}

int submit_one(const Context& context, const SubmitOptions& options) {
  const config::Settings settings = context.settings();
  queue::Submission task;
  task.type = options.type;
  task.payload = payload_of(options);
  task.prio = options.prio;
  queue::validate(task);
  db::Connection db = Context::connect(settings);
  task.queue = Queues(db, settings).get(options.queue);
  const auto ids = queue::submit(db, {&task, 1});
  ring_local(settings, 1);
  std::printf("%s\n", ids.front().text().c_str());
  return kExitOk;
}

// Reads lines into batches, and submits each batch as one transaction.
class Bulk {
 public:
  Bulk(const config::Settings& settings, db::Connection& db, const SubmitOptions& options)
      : settings_(settings), db_(db), options_(options), queues_(db, settings) {}

  void run(std::istream& in, const std::string& name) {
    std::string text;
    for (line_ = 1; std::getline(in, text); ++line_) {
      if (line_ < options_.from_line) continue;
      try {
        add(text);
      } catch (const db::DbError&) {
        throw;
      } catch (const Error& error) {
        throw Error(name + ":" + std::to_string(line_) + ": " + error.what() + "; " + so_far(),
                    error.exit_code());
      }
      if (batch_.size() >= options_.batch) flush(name);
    }
    flush(name);
    std::fprintf(stderr, "submitted %llu tasks in %llu batches\n",
                 static_cast<unsigned long long>(tasks_),
                 static_cast<unsigned long long>(batches_));
  }

 private:
  void add(const std::string& text) {
    auto line = parse_line(text);
    if (!line) return;
    queue::Submission task{queues_.get(line->queue), std::move(line->type),
                           std::move(line->payload), line->prio};
    queue::validate(task);
    if (batch_.empty()) first_of_batch_ = line_;
    batch_.push_back(std::move(task));
    last_of_batch_ = line_;
  }

  // What a person needs to go on after this line was refused.
  [[nodiscard]] std::string so_far() const {
    const std::uint64_t next = batch_.empty() ? line_ : first_of_batch_;
    std::ostringstream text;
    text << tasks_ << " tasks of the lines before line " << next
         << " are submitted, nothing from it on; mend the line and go on with --from-line " << next;
    return text.str();
  }

  void flush(const std::string& name) {
    if (batch_.empty()) return;
    const std::string lines = name + ": lines " + std::to_string(first_of_batch_) + " to " +
                              std::to_string(last_of_batch_);
    std::vector<queue::TaskId> ids;
    try {
      ids = queue::submit(db_, batch_);
    } catch (const queue::OutcomeUnknown& error) {
      throw Error(lines + ": outcome unknown: " + error.what() +
                      ". Look with 'allot tasks' before you go on with --from-line " +
                      std::to_string(last_of_batch_ + 1),
                  kExitOutcomeUnknown);
    } catch (const Error& error) {
      throw Error(lines + ": nothing of them was submitted: " + error.what() + "; " + so_far(),
                  error.exit_code());
    }
    ring_local(settings_, ids.size());
    if (options_.ids) {
      for (const queue::TaskId& id : ids) std::printf("%s\n", id.text().c_str());
    }
    tasks_ += ids.size();
    ++batches_;
    batch_.clear();
  }

  const config::Settings& settings_;
  db::Connection& db_;
  const SubmitOptions& options_;
  Queues queues_;
  std::vector<queue::Submission> batch_;
  std::uint64_t line_ = 0;
  std::uint64_t first_of_batch_ = 0;
  std::uint64_t last_of_batch_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t batches_ = 0;
};

int submit_lines(const Context& context, const SubmitOptions& options) {
  const config::Settings settings = context.settings();
  std::ifstream file;
  if (options.ndjson != "-") {
    file.open(options.ndjson, std::ios::binary);
    if (!file) throw Error(options.ndjson + ": cannot be read", kExitNoInput);
  }
  db::Connection db = Context::connect(settings);
  Bulk bulk(settings, db, options);
  options.ndjson == "-" ? bulk.run(std::cin, "stdin") : bulk.run(file, options.ndjson);
  return kExitOk;
}

}  // namespace

int submit(const Context& context, const SubmitOptions& options) {
  std::ios::sync_with_stdio(false);
  return options.ndjson.empty() ? submit_one(context, options) : submit_lines(context, options);
}

}  // namespace allot::cli
