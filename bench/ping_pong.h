// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace allot::bench {

// Minimum cost of giving tasks to a program: writes a line to its descriptor 3, reads a line from
// its descriptor 4, and so on. The lines are not parsed here.
class PingPong {
 public:
  // `command` is a program that speaks the protocol of docs/pipe-workers.md; `variables` is its
  // whole environment.
  PingPong(std::vector<std::string> command, std::vector<std::string> variables);
  PingPong(const PingPong&) = delete;
  PingPong& operator=(const PingPong&) = delete;
  ~PingPong();  // waits for its end

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Sends this line `times` times, each time after the response to the previous one. Throws Error
  // if the program has ended.
  void play(const std::string& line, std::uint32_t times);

 private:
  void await_line();

  UniqueFd to_{};
  UniqueFd from_{};
  pid_t pid_ = -1;
};

// Lines per second that several programs answer concurrently; each gets `times` lines.
double rate_of(const std::vector<std::unique_ptr<PingPong>>& several, const std::string& line,
               std::uint32_t times);

}  // namespace allot::bench
