// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/task_reader.h"
#include "operations/document.h"
#include "operations/route.h"
#include "queue/model/headers.h"
#include "queue/submit/submitter.h"

// POST /api/v1/tasks, as the gateway and the command line perform it: reads the tasks, and converts
// the result of queue::Submitter.
namespace allot::operations {

inline constexpr std::string_view kRaw = "application/octet-stream";
inline constexpr std::string_view kNdjson = "application/x-ndjson";
// A batch of NDJSON also ends with the line that brings it to this size, because a thousand large
// payloads would fill the memory.
inline constexpr std::size_t kFullBatchBytes = std::size_t{16} << 20;

// Reads a body that is not NDJSON. `type` kRaw: the body is one payload, and the query has its
// options. Throws Refusal and Error(kExitBadInput).
[[nodiscard]] as_json::TaskBody read_tasks(std::string_view type, const Values& query,
                                           std::string body);

// The answer: an array, or the task and its location.
[[nodiscard]] Document made_answer(const std::vector<queue::Submitted>& made, bool several,
                                   const std::string& base_path);

// Adds the trace of a request to a task without its own.
void join_trace(queue::SubmitOptions& options, const queue::Trace& trace);

struct LineOptions {
  std::uint32_t batch = 1'000;  // number of lines in a transaction
  std::uint32_t from_line = 1;  // earlier lines are read, but not submitted
  bool ids = false;             // the report line of a batch has the ids of its tasks
  queue::Trace trace{};         // for lines without their own
  as_json::Source source = as_json::Source::kHttp;
};
// Throws Refusal.
[[nodiscard]] LineOptions line_options_of(const Values& query);

// NDJSON: one task per line, all or nothing per batch. Its report is NDJSON as well: a line for
// each batch, and a final one with the outcome. Used by one thread at a time.
class Lines {
 public:
  explicit Lines(LineOptions options) : options_(std::move(options)) {}

  // Reads the next line into the batch, and prepares its task. Throws Refusal, which names the
  // line, and as Submitter.
  void read(db::Connection& db, queue::Submitter& submitter, const std::string& text,
            const queue::Permit& permit = {});
  [[nodiscard]] const std::vector<queue::Submission>& batch() const { return batch_; }
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] std::size_t batch_bytes() const { return batch_bytes_; }

  // The report line of the submitted batch, which makes room for the next one.
  std::string report(const std::vector<queue::Submitted>& made);
  // The final line. `problem`: the document of the error that ended the lines; empty: none, and all
  // lines are committed. `unknown`: the reply to the batch was lost.
  [[nodiscard]] std::string end(std::string_view problem, bool unknown) const;

 private:
  // Number of the first line not committed.
  [[nodiscard]] std::uint64_t next_line() const;

  const LineOptions options_;
  std::vector<queue::Submission> batch_{};
  std::vector<std::uint64_t> batch_lines_{};  // numbers of its lines
  std::size_t batch_bytes_ = 0;
  std::uint64_t line_ = 0;  // from 1, as editors count
  std::uint64_t in_ = 0;    // all tasks up to this line are committed
  std::uint64_t tasks_ = 0;
  std::uint64_t existed_ = 0;
  std::map<std::string, std::uint64_t> owners_{};  // owners of existing keys, by state
  std::uint64_t batches_ = 0;
};

}  // namespace allot::operations
