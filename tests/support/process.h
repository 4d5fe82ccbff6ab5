// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.h"

namespace allot::support {

struct ExitStatus {
  int code = -1;   // valid when signal is 0
  int signal = 0;  // signal that ended the process
  bool operator==(const ExitStatus&) const = default;
};

struct ProcessOptions {
  std::vector<std::string> environment{};  // "NAME=value", before the variables of this process
  std::string directory{};                 // working folder; empty: the current one
  std::string input{};                     // standard input
  // Descriptor here, and its number in the child. All others are closed there.
  std::vector<std::pair<int, int>> descriptors{};
};

// A real program, forked and exec'ed. Standard output and error go to files. Ends by SIGKILL with
// this object and with the *thread* that started it (PDEATHSIG), so a dead test leaves no process
// behind. Throws std::system_error if it cannot be started.
class Process {
 public:
  // command[0] is searched in $PATH and the sbin folders.
  explicit Process(std::vector<std::string> command, const ProcessOptions& options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool running();
  void signal(int number);

  // nullopt: still running at the deadline. May be called again after the end.
  std::optional<ExitStatus> wait(std::chrono::milliseconds deadline = std::chrono::seconds(20));
  // Kills the process and reaps it.
  void kill9();

  [[nodiscard]] std::string out() const { return read_file(files_ / "out"); }
  [[nodiscard]] std::string err() const { return read_file(files_ / "err"); }

 private:
  TempDir files_;
  pid_t pid_ = -1;
  std::optional<ExitStatus> ended_;
};

// Runs a program to its end. Throws std::runtime_error if it is still running at the deadline.
struct Finished {
  ExitStatus status;
  std::string out;
  std::string err;
};
Finished run_program(std::vector<std::string> command, const ProcessOptions& options = {},
                     std::chrono::milliseconds deadline = std::chrono::seconds(60));

// As kill(2), for this one process. Throws for 0 and negative numbers: a failed pid lookup often
// returns one, and kill() would signal the group of the test, or every process of its user.
int send_signal(pid_t pid, int number);

// True if the process and all its threads have ended, even if it is not reaped: an orphan may have
// no parent that reaps it.
[[nodiscard]] bool gone(pid_t pid);
// True if the number is in use, even by a process that has ended but is not reaped.
[[nodiscard]] bool alive(pid_t pid);
[[nodiscard]] bool none_alive(const std::vector<pid_t>& pids);

}  // namespace allot::support
