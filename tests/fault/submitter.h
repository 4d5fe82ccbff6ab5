// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "fault/evidence.h"
#include "support/process.h"

namespace allot::fault {

enum class Work {
  kMixed,   // many short tasks, some of which misbehave
  kLate,    // few tasks of some seconds, which report retry or fail when a stop is requested
  kRazing,  // as kMixed without slow ones, and the 20th kills whole hosts
  kPoison,  // as kMixed, and the 20th always kills its worker
};

struct SubmitterOptions {
  unsigned number = 0;      // number of this submitter
  std::string config_file;  // of `allot`
  std::string reply_file;   // file for the received answers
  std::uint64_t seed = 0;
  std::vector<std::string> queues{"default"};
  std::uint64_t lines = 400;     // per call
  std::uint64_t batch = 100;     // per transaction
  std::uint64_t per_second = 0;  // maximum on average; 0: no limit
  Work work = Work::kMixed;
  // Line of a task, instead of one from `queues` and `work`.
  std::function<std::string(std::uint64_t number)> line{};
  // File for the ids that were printed, "NUMBER ID", instead of a report; empty: none.
  std::string ids_file{};
};

// Runs `allot submit --ndjson` repeatedly with new tasks, until it is stopped. A refused task is
// never submitted again, so any trace of one is unexpected.
class Submitter {
 public:
  explicit Submitter(SubmitterOptions options);
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;
  ~Submitter() { stop(); }

  void stop();
  // Number of acknowledged tasks so far.
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  // The error that ended it before stop(); empty: none. Call it only after stop().
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void loop();
  void submit_once(std::uint64_t first);
  [[nodiscard]] std::vector<Reply> read_answers(const support::Finished& done,
                                                std::uint64_t first) const;
  [[nodiscard]] std::string line_for(std::uint64_t number) const;

  SubmitterOptions options_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> acknowledged_{0};
  std::string error_;
  std::thread thread_;
};

// Parses the answer of `allot submit --ndjson --json` for `lines` lines: one record for each range
// with the same answer, numbered from `first`. Throws std::runtime_error if the answer cannot be
// parsed.
std::vector<Reply> answers_of(const std::string& report, int exit_code, std::uint64_t lines,
                              std::uint64_t batch, unsigned submitter, std::uint64_t first);

// The same for `allot submit --ndjson --ids`, which printed `ids` ids.
std::vector<Reply> answers_by_ids(std::uint64_t ids, int exit_code, std::uint64_t lines,
                                  std::uint64_t batch, unsigned submitter, std::uint64_t first);

}  // namespace allot::fault
