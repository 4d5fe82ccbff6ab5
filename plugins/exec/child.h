// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "programs/fd.h"
#include "programs/process.h"
#include "programs/tail.h"

namespace exec_plugin {

// A running command. SIGKILL ends it with this object, and with the thread that made it.
class Child {
 public:
  // Starts the command with `input` on its standard input. Throws std::system_error that names the
  // step that failed.
  Child(const Command& command, const std::vector<std::string>& variables, std::string_view input);

  // Waits at most this long for its end or an output. True: it has ended.
  bool wait(std::chrono::milliseconds most);
  // Sends the signal to its whole group.
  void signal(int number) const { process_->signal(number); }
  // After its end: kills what is left of its group and takes its status; nullopt: the status was
  // lost.
  std::optional<int> reap();

  [[nodiscard]] const programs::Tail& said() const { return said_; }
  // How much it has written.
  [[nodiscard]] std::size_t bytes_said() const { return bytes_said_; }

 private:
  bool read_on();

  std::optional<programs::Process> process_;
  programs::Fd output_;
  programs::Tail said_;
  std::size_t bytes_said_ = 0;
};

}  // namespace exec_plugin
