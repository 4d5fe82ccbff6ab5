// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace allot::bench {

// The least that giving tasks to a program costs: a line is written to its descriptor 3, a line is
// read from its descriptor 4, and so on. Nothing reads the lines here.
class PingPong {
 public:
  // `command` is a program that speaks the lines of docs/pipe-workers.md; `variables` is all of its
  // environment.
  PingPong(std::vector<std::string> command, std::vector<std::string> variables);
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;
  ~PingPong();  // waits for its end

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Gives it this line so often, each time once the one before is answered. Throws Error when it
  // has ended.
  void play(const std::string& line, std::uint32_t times);

 private:
  void await_line();

  UniqueFd to_{};
  UniqueFd from_{};
  pid_t pid_ = -1;
};

// How many lines a second are answered by several of them side by side, so many by each.
double rate_of(const std::vector<std::unique_ptr<PingPong>>& several, const std::string& line,
               std::uint32_t times);

}  // namespace allot::bench
