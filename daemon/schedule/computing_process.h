// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <iosfwd>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "schedule/calendar.h"
#include "schedule/expression.h"

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

  // Both also throw an Error if no child answers.
  std::vector<Instant> upcoming(const std::string& expression, const std::string& zone,
                                Instant after, Instant until, std::size_t most) override;
  Missed missed(const std::string& expression, const std::string& zone, Instant after,
                Instant until, std::size_t most) override;

  // The child; -1: none.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void start();
  void end();
  // The answer without its first word, which is `word`. Starts a child if there is none or the
  // present one has died.
  std::istringstream ask_any(const std::string& word, Instant after, Instant until,
                             std::size_t most, const std::string& zone,
                             const Expression& expression);
  // The answer; nullopt if the child is gone.
  std::optional<std::string> ask(const std::string& question);

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_;
  pid_t pid_ = -1;
  UniqueFd socket_;
};

// Answers a question in the child process that computes for a process with threads. A question is a
// line for a call of Calendar, "upcoming AFTER UNTIL MOST ZONE EXPRESSION" or the same with
// "missed". It is answered by "upcoming INSTANT...", by "missed COUNT AT_LEAST NEXT INSTANT..."
// with 0 or 1 as AT_LEAST and "never" for a missing next instant, or by "error TEXT".
std::string answer(const std::string& question);

// Answers each line until the end of `in`.
void answer_all(std::istream& in, std::ostream& out);

}  // namespace allot::schedule
