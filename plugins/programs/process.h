// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

// Starts and ends the programs of a plugin.
namespace programs {

struct Program {
  std::vector<std::string> argv;  // the full path of the program, and its arguments
  std::string directory = "/";
  std::vector<std::string> environment;  // "NAME=value"
};

// Moves a newly opened descriptor above the numbers that a program may receive. Throws
// std::system_error with `what` if it is invalid.
[[nodiscard]] allot::UniqueFd above_those_of_programs(int fd, const char* what);

struct Pipe {
  allot::UniqueFd read;
  allot::UniqueFd write;
};
[[nodiscard]] Pipe make_pipe();

// Reads available bytes into `buffer`, at most `size`. nullopt: none yet; 0: end of input.
[[nodiscard]] std::optional<std::size_t> read_some(const allot::UniqueFd& from, char* buffer,
                                                   std::size_t size);

// A running program, in its own process group. SIGKILL ends it with this object, and with the
// thread that created it.
class Process {
 public:
  // Starts the program with `descriptors` as its descriptors 0, 1, 2 ... and no others; each must
  // come from above_those_of_programs(). Throws std::system_error that names the failed step.
  Process(const Program& program, const std::vector<std::string>& variables,
          const std::vector<int>& descriptors);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Readable once the program has exited; -1 on old kernels: call ended() every few milliseconds.
  [[nodiscard]] int alive() const { return alive_.get(); }
  // Whether it may be reaped.
  [[nodiscard]] bool ended() const;
  // Sends the signal to its process group.
  void signal(int number) const;
  // Kills the rest of its process group, waits for its exit and takes its status; nullopt: the
  // status is unknown, or was taken before.
  std::optional<int> reap();

 private:
  pid_t pid_ = -1;
  allot::UniqueFd alive_;  // a pidfd
};

// "exit code 1", "signal 9 (Killed)".
[[nodiscard]] std::string how_it_ended(std::optional<int> status);

}  // namespace programs
