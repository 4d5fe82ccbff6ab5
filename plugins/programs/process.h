// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "programs/fd.h"

// Programs that a plugin starts.
namespace programs {

struct Program {
  std::vector<std::string> argv;  // the full path of the program, and its arguments
  std::string directory = "/";
  std::vector<std::string> environment;  // "NAME=value"
};

// Takes a descriptor that was just opened, and moves it above those that a program may get. Throws
// std::system_error with `what` where it is none.
[[nodiscard]] Fd above_those_of_programs(int fd, const char* what);

struct Pipe {
  Fd read;
  Fd write;
};
[[nodiscard]] Pipe make_pipe();

// Reads what has come into `buffer`, at most `size` bytes. nullopt: nothing; 0: there will be none.
[[nodiscard]] std::optional<std::size_t> read_some(const Fd& from, char* buffer, std::size_t size);

// A running program, in a process group of its own. SIGKILL ends it with this object, and with the
// thread that made it.
class Process {
 public:
  // Starts it with `descriptors` as its descriptors 0, 1, 2 ... and no others; each was moved above
  // those of programs. Throws std::system_error that names the step that failed.
  Process(const Program& program, const std::vector<std::string>& variables,
          const std::vector<int>& descriptors);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  // Is readable once the program has ended; -1 on old kernels: ask ended() every few milliseconds.
  [[nodiscard]] int alive() const { return alive_.get(); }
  // It may be reaped.
  [[nodiscard]] bool ended() const;
  // Sends the signal to its whole group.
  void signal(int number) const;
  // Kills what is left of its group, waits for its end and takes its status; nullopt: the status
  // was lost, or taken before.
  std::optional<int> reap();

 private:
  pid_t pid_ = -1;
  Fd alive_;  // a pidfd
};

// "exit code 1", "signal 9 (Killed)".
[[nodiscard]] std::string how_it_ended(std::optional<int> status);

}  // namespace programs
