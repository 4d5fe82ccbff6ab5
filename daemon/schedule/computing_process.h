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

// A calendar for a process that has threads: a child computes, because the C library keeps its zone
// in the environment. It is started with the first question, and again when it is gone, and it ends
// with this object or, at the end of its input, with this process. For one thread at a time.
class ComputingProcess : public Calendar {
 public:
  // `command` is a program, by its path, that calls answer_all() on its standard input and output.
  explicit ComputingProcess(std::vector<std::string> command,
                            std::chrono::milliseconds patience = std::chrono::seconds(10));
  ComputingProcess(const ComputingProcess&) = delete;
  ComputingProcess& operator=(const ComputingProcess&) = delete;
  ~ComputingProcess() override { end(); }

  // As schedule::next(). Throws an Error for an expression or a zone that is none, and when no
  // child answers.
  std::optional<Instant> next(const std::string& expression, const std::string& zone,
                              Instant after);

  std::vector<Instant> upcoming(const std::string& expression, const std::string& zone,
                                Instant after, Instant until, std::size_t most) override;
  Missed missed(const std::string& expression, const std::string& zone, Instant after,
                Instant until, std::size_t most) override;

  // The child; -1 while there is none.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  void start();
  void end();
  // The answer. Starts a child if there is none, or the one that was there has died.
  std::string ask_any(const std::string& question);
  // The answer; nothing when the child is gone.
  std::optional<std::string> ask(const std::string& question);

  std::vector<std::string> command_;
  std::chrono::milliseconds patience_;
  pid_t pid_ = -1;
  UniqueFd socket_;
};

}  // namespace allot::schedule
