// SPDX-License-Identifier: Apache-2.0
// Streams of tasks.
#include <algorithm>
#include <utility>

#include "base/mutant.h"
#include "gateway/api/problem.h"
#include "gateway/api/submission.h"
#include "operations/submission.h"

namespace allot::gateway::api {
namespace {

using Then = http::LineStream::Then;

// Submits the lines of one request. One thread at a time uses it; its callbacks keep it alive, even
// if the client's connection ends earlier.
class Stream final : public http::LineStream {
 public:
  Stream(work::ThreadPool& pool, queue::Submitter submitter, access::Caller caller,
         operations::LineOptions options)
      : pool_(pool),
        submitter_(std::move(submitter)),
        caller_(std::move(caller)),
        permit_(permit_of(caller_)),
        lines_(std::move(options)) {}

  void take(std::string lines, bool last, Written written) override {
    if (left_.empty()) left_ = std::move(lines);
    const auto callback = std::make_shared<Written>(std::move(written));
    const bool taken =
        pool_.post({[this, callback, last](db::Connection& db) {
                      auto [report, then] = read(db, last);
                      (*callback)(std::move(report), then);
                    },
                    [this, callback](const std::exception_ptr& error, bool /*begun*/) {
                      (*callback)(end(error), Then::kEnd);
                    }});
    if (!taken) stop("too many requests are waiting", *callback);
  }

  void stop(const char* why, Written written) override {
    written(end(std::make_exception_ptr(Error(why, kExitUnavailable))), Then::kEnd);
  }

  // Bytes of lines that wait for the end of their batch.
  [[nodiscard]] std::size_t held() const override { return left_.size() + lines_.batch_bytes(); }

 private:
  // Processes further lines, up to the end of a batch. S62: the report line of a batch is sent
  // before the next batch begins. Returns the text to send back, and the next step.
  std::pair<std::string, Then> read(db::Connection& db, bool last) {
    while (!left_.empty()) {
      lines_.read(db, submitter_, next_of_left(), permit_);
      if (lines_.is_full() && !mutant::removed("batch_line_first")) return {flush(db), Then::kRest};
    }
    if (!last) return {{}, Then::kLines};
    if (!lines_.batch().empty()) return {flush(db), Then::kRest};
    return {lines_.end({}, false), Then::kEnd};
  }

  // The final report line after an error. A lost reply to a batch has its own error class. Any
  // other database error occurred before the batch or its COMMIT was sent.
  [[nodiscard]] std::string end(const std::exception_ptr& error) const {
    const Problem problem = problem_of(error, mutant::removed("gateway_batch_not_sent"));
    return lines_.end(response_of(problem).body, problem.status == 504);
  }

  // The next line, without its line feed.
  std::string next_of_left() {
    const std::size_t end = std::min(left_.find('\n', used_), left_.size() - 1) + 1;
    std::string line = left_.substr(used_, end - used_);
    if (line.ends_with('\n')) line.pop_back();
    used_ = end;
    if (used_ == left_.size()) {
      left_.clear();
      used_ = 0;
    }
    return line;
  }

  std::string flush(db::Connection& db) {
    const auto made = submitter_.submit(db, lines_.batch());
    log_submission(caller_, made);
    return lines_.report(made);
  }

  work::ThreadPool& pool_;
  queue::Submitter submitter_;
  const access::Caller caller_;
  const queue::Permit permit_;
  operations::Lines lines_;
  std::string left_{};  // received lines, consumed up to used_; empty if all are
  std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<http::LineStream> submit_lines(work::ThreadPool& pool, queue::Submitter submitter,
                                               access::Caller caller, const http::Head& head) {
  if (head.field("idempotency-key") != nullptr) {
    refuse(400, "Idempotency-Key is for one task; give each line its unique_key",
           "idempotency-key");
  }
  operations::LineOptions options = operations::line_options_of(query_of(head.query));
  options.trace = trace_of(head);
  return std::make_unique<Stream>(pool, std::move(submitter), std::move(caller),
                                  std::move(options));
}

}  // namespace allot::gateway::api
