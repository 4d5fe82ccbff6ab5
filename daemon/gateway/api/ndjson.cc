// SPDX-License-Identifier: Apache-2.0
#include "gateway/api/ndjson.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutant.h"
#include "gateway/api/problem.h"
#include "gateway/api/submission.h"
#include "json/printable.h"
#include "json/task_reader.h"
#include "operations/call.h"
#include "queue/submit/owners.h"

namespace allot::gateway::api {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kMostBatch = 100'000;
// A batch also ends with the payload that brings it to this size.
constexpr std::size_t kFullBatchBytes = std::size_t{16} << 20;

std::string line_of(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

// Submits the lines of one request. One thread uses it at a time. A job keeps it alive, because the
// client's connection may end earlier.
class Bulk {
 public:
  Bulk(queue::Submitter submitter, access::Caller caller, const LineOptions& options)
      : submitter_(std::move(submitter)),
        caller_(std::move(caller)),
        permit_(permit_of(caller_)),
        options_(options) {}

  using Then = http::LineStream::Then;
  // The text to send back, and the next step. `gone`: the connection is unusable.
  struct Reply {
    std::string lines{};
    Then then = Then::kLines;
    bool gone = false;
  };
  // Processes further lines, up to the end of a batch. S62: the report line of a batch is sent
  // before the next batch begins.
  Reply take(db::Connection& db, std::string lines, bool last) {
    if (left_.empty()) left_ = std::move(lines);
    try {
      while (!left_.empty()) {
        read(db, next_of_left());
        const bool full = batch_.size() >= options_.batch || batch_bytes_ >= kFullBatchBytes;
        if (full && !mutant::removed("batch_line_first")) return {flush(db), Then::kRest};
      }
      if (!last) return {};
      if (!batch_.empty()) return {flush(db), Then::kRest};
      return {report(nullptr), Then::kEnd};
    } catch (...) {
      const std::exception_ptr error = std::current_exception();
      return {report(error), Then::kEnd, loses_connection(error)};
    }
  }

  // Bytes of lines and payloads that wait for the end of their batch.
  [[nodiscard]] std::size_t held() const { return left_.size() + batch_bytes_; }

  // The final report line. Without an error all lines are committed.
  [[nodiscard]] std::string report(const std::exception_ptr& error) const {
    ordered_json document{{"ok", error == nullptr}, {"problem", nullptr},
                          {"tasks", tasks_},        {"existed", existed_},
                          {"states", owners_},      {"batches", batches_},
                          {"next_line", nullptr},   {"unknown_lines", nullptr}};
    if (error != nullptr) {
      // A lost reply to a batch has its own error class. Any other database error occurred before
      // the batch or its COMMIT was sent.
      const Problem problem = problem_of(error, mutant::removed("gateway_batch_not_sent"));
      document["problem"] = ordered_json::parse(response_of(problem).body);
      if (problem.status == 504) {
        document["unknown_lines"] = {first_of_batch_, last_of_batch_};
      } else {
        document["next_line"] = next_line();
      }
    }
    return line_of(document);
  }

 private:
  // The next line, with its line feed.
  std::string next_of_left() {
    const std::size_t end = std::min(left_.find('\n', used_), left_.size() - 1) + 1;
    std::string line = left_.substr(used_, end - used_);
    used_ = end;
    if (used_ == left_.size()) {
      left_.clear();
      used_ = 0;
    }
    return line;
  }

  void read(db::Connection& db, const std::string& text) {
    ++line_;
    if (line_ < options_.from_line) return;
    try {
      auto task = as_json::read_task(text, as_json::Source::kHttp);
      if (!task) return;
      join_trace(task->options, options_.trace);
      submitter_.prepare(db, {&*task, 1}, permit_);
      if (batch_.empty()) first_of_batch_ = line_;
      last_of_batch_ = line_;
      batch_bytes_ += task->payload.size();
      batch_.push_back(std::move(*task));
    } catch (const db::DbError&) {
      throw;
    } catch (const Error& error) {
      if (error.exit_code() != kExitBadInput) throw;
      throw Refusal({400, "line " + std::to_string(line_) + ": " + error.what(),
                     as_json::field_of(error.what())});
    }
  }

  std::string flush(db::Connection& db) {
    if (batch_.empty()) return {};
    // A route may have changed while the batch waited for its last line.
    for (queue::Submission& task : batch_) submitter_.prepare(db, {&task, 1}, permit_);
    const auto made = submitter_.submit(db, batch_);
    for (const queue::Submitted& task : made) {
      if (const char* state = queue::name_of(task.owner)) ++owners_[state];
    }
    return count(made);
  }

  std::string count(const std::vector<queue::Submitted>& made) {
    const std::uint64_t tasks = log_submission(caller_, made);
    const std::uint64_t existed = made.size() - tasks;
    tasks_ += tasks;
    existed_ += existed;
    ++batches_;
    ordered_json document{{"first_line", first_of_batch_},
                          {"last_line", last_of_batch_},
                          {"tasks", tasks},
                          {"existed", existed}};
    if (options_.ids) {
      document["ids"] = ordered_json::array();
      for (const queue::Submitted& task : made) document["ids"].push_back(task.id.text());
    }
    batch_.clear();
    batch_bytes_ = 0;
    in_ = line_;
    return line_of(document);
  }

  // Number of the first line not committed.
  [[nodiscard]] std::uint64_t next_line() const {
    if (!batch_.empty()) return first_of_batch_;
    return std::max<std::uint64_t>(in_ + 1, options_.from_line);
  }

  queue::Submitter submitter_;
  const access::Caller caller_;
  const queue::Permit permit_;
  const LineOptions options_;
  std::string left_{};  // received lines, consumed up to used_; empty if all are
  std::size_t used_ = 0;
  std::vector<queue::Submission> batch_{};
  std::size_t batch_bytes_ = 0;
  std::uint64_t line_ = 0;  // from 1, as editors count
  std::uint64_t in_ = 0;    // all tasks up to this line are committed
  std::uint64_t first_of_batch_ = 0;
  std::uint64_t last_of_batch_ = 0;
  std::uint64_t tasks_ = 0;
  std::uint64_t existed_ = 0;
  std::map<std::string, std::uint64_t> owners_{};  // owners of existing keys, by state
  std::uint64_t batches_ = 0;
};

class Lines final : public http::LineStream {
 public:
  Lines(work::ThreadPool& pool, std::shared_ptr<Bulk> bulk) : pool_(pool), bulk_(std::move(bulk)) {}

  void take(std::string lines, bool last, Written written) override {
    const auto callback = std::make_shared<Written>(std::move(written));
    auto job = [bulk = bulk_, callback, last, lines = std::move(lines)](
                   db::Connection* db, const std::exception_ptr& unavailable) {
      if (db == nullptr) {
        (*callback)(bulk->report(unavailable), Then::kEnd);
        return work::ThreadPool::Connection::kGone;
      }
      Bulk::Reply answer = bulk->take(*db, lines, last);
      const bool gone = answer.gone;
      (*callback)(std::move(answer.lines), answer.then);
      return gone ? work::ThreadPool::Connection::kGone : work::ThreadPool::Connection::kGood;
    };
    if (pool_.post(std::move(job))) return;
    end(*callback, "too many requests are waiting");
  }

  void stop(const char* why, Written written) override { end(written, why); }

  [[nodiscard]] std::size_t held() const override { return bulk_->held(); }

 private:
  void end(const Written& written, const char* why) const {
    const auto error = std::make_exception_ptr(Error(why, kExitUnavailable));
    written(bulk_->report(error), Then::kEnd);
  }

  work::ThreadPool& pool_;
  std::shared_ptr<Bulk> bulk_;
};

std::uint32_t number_of(const std::string& name, const std::string& text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= 1 && value <= most) {
    return value;
  }
  refuse(400, "'" + name + "' must be a whole number, 1 to " + std::to_string(most), name);
}

}  // namespace

LineOptions line_options_of(const http::Head& head) {
  if (head.field("idempotency-key") != nullptr) {
    refuse(400, "Idempotency-Key is for one task; give each line its unique_key",
           "idempotency-key");
  }
  LineOptions options;
  options.trace = trace_of(head);
  for (const auto& [name, value] : query_of(head.query)) {
    if (name == "batch") {
      options.batch = number_of(name, value, kMostBatch);
    } else if (name == "from_line") {
      options.from_line = number_of(name, value, 4'000'000'000U);
    } else if (name == "ids" && (value == "true" || value == "false")) {
      options.ids = value == "true";
    } else {
      refuse(400,
             "'" + as_json::printable(name, 60) +
                 "': NDJSON allows batch=LINES, from_line=LINE and ids=true",
             as_json::printable(name, 60));
    }
  }
  return options;
}

std::unique_ptr<http::LineStream> submit_lines(work::ThreadPool& pool, queue::Submitter submitter,
                                               access::Caller caller, const LineOptions& options) {
  return std::make_unique<Lines>(
      pool, std::make_shared<Bulk>(std::move(submitter), std::move(caller), options));
}

}  // namespace allot::gateway::api
