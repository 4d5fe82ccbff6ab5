// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "schedule/calendar.h"

namespace allot::schedule {

// Calendar for a process with threads: a child process computes, because the C library keeps its
// zone in the environment. The child is started with the first question, and again if it has died.
// It ends with this object or, at the end of its input, with this process. Used by one thread at a
// time.
class ComputingProcess : public Calendar {
 public:
  // `command` is the path of a program that calls answer_all() on its standard input and output.
  explicit ComputingProcess(std::vector<std::string> command,
                            std::chrono::milliseconds patience = std::chrono::seconds(10));
  ComputingProcess(const ComputingProcess&) = delete;
  ComputingProcess& operator=(const ComputingProcess&) = delete;
  ~ComputingProcess() override { end(); }

  // As schedule::next(). Throws an Error for an invalid expression or zone, and if no child
  // answers.
  std::optional<Instant> next(const std::string& expression, const std::string& zone,
                              Instant after);

  std::vector<Instant> upcoming(const std::string& expression, const std::string& zone,
                                Instant after, Instant until, std::size_t most) override;
  Missed missed(const std::string& expression, const std::string& zone, Instant after,
                Instant until, std::size_t most) override;

  // The child; -1: none.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void start();
  void end();
  // The answer. Starts a child if there is none or the present one has died.
  std::string ask_any(const std::string& question);
  // The answer; nullopt if the child is gone.
  std::optional<std::string> ask(const std::string& question);

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_;
  pid_t pid_ = -1;
  UniqueFd socket_;
};

}  // namespace allot::schedule
