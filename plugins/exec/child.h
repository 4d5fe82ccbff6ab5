// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "programs/process.h"
#include "programs/tail.h"

namespace exec_plugin {

// A running command. SIGKILL ends it with this object, and with the thread that created it.
class Child {
 public:
  // Starts the command with `input` as its standard input; its standard output is kept or
  // discarded. Throws std::system_error that names the failed step.
  Child(const programs::Program& program, bool keep_stdout,
        const std::vector<std::string>& variables, std::string_view input);

  // Waits at most this long for its exit or output. True: it has exited.
  bool wait(std::chrono::milliseconds most);
  // Sends the signal to its process group.
  void signal(int number) const { process_->signal(number); }
  // After its exit: kills the rest of its process group and takes its status; nullopt: the status
  // is unknown.
  std::optional<int> reap();

  [[nodiscard]] const programs::Tail& said() const { return said_; }
  // Number of bytes written by the command.
  [[nodiscard]] std::size_t bytes_said() const { return bytes_said_; }

 private:
  bool read_on();

  std::optional<programs::Process> process_;
  allot::UniqueFd output_;
  programs::Tail said_;
  std::size_t bytes_said_ = 0;
};

}  // namespace exec_plugin
