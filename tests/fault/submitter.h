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
  kLate,    // few tasks of some seconds, which say retry or fail when they are asked to stop
  kRazing,  // as kMixed without slow ones, and the 20th takes whole hosts down
  kPoison,  // as kMixed, and the 20th takes its worker down, always
};

struct SubmitterOptions {
  unsigned number = 0;      // its own
  std::string config_file;  // of `allot`
  std::string told_file;    // where it writes the answers that it got
  std::uint64_t seed = 0;
  std::vector<std::string> queues{"default"};
  std::uint64_t lines = 400;     // in one call
  std::uint64_t batch = 100;     // in one transaction
  std::uint64_t per_second = 0;  // at most this many on average; 0: no limit
  Work work = Work::kMixed;
  // The line of a task, in place of what `queues` and `work` say.
  std::function<std::string(std::uint64_t number)> line{};
  // Where it notes the ids that it was told, "NUMBER ID", instead of asking for a report; empty: it
  // does not.
  std::string ids_file{};
};

// Runs `allot submit --ndjson` again and again, each time with new tasks, until it is stopped. It
// never submits a refused task again, so any trace of one is unexpected.
class Submitter {
 public:
  explicit Submitter(SubmitterOptions options);
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;
  ~Submitter() { stop(); }

  void stop();
  // The tasks of whose submission it was told so far.
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  // The error that ended it before stop(); empty: none. Call it only after stop().
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  void loop();
  void submit_once(std::uint64_t first);
  [[nodiscard]] std::vector<Told> read_answers(const support::Finished& done,
                                               std::uint64_t first) const;
  [[nodiscard]] std::string line_for(std::uint64_t number) const;

  SubmitterOptions options_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> acknowledged_{0};
  std::string error_;
  std::thread thread_;
};

// The answer of `allot submit --ndjson --json` for `lines` lines: one record for each stretch with
// one answer, numbered from `first`. Throws std::runtime_error when the answer cannot be read.
std::vector<Told> answers_of(const std::string& report, int exit_code, std::uint64_t lines,
                             std::uint64_t batch, unsigned submitter, std::uint64_t first);

// The same of `allot submit --ndjson --ids`, which printed so many ids.
std::vector<Told> answers_by_ids(std::uint64_t ids, int exit_code, std::uint64_t lines,
                                 std::uint64_t batch, unsigned submitter, std::uint64_t first);

}  // namespace allot::fault
