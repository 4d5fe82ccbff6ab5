// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "pipe/settings.h"
#include "programs/fd.h"
#include "programs/process.h"
#include "programs/tail.h"

namespace pipe_plugin {

// A program that runs, with its two pipes. It knows lines, and nothing of what they mean. Used by
// one thread; SIGKILL ends the program with the thread that made it.
class Child {
 public:
  // Starts it. Throws std::system_error that names the step that failed.
  explicit Child(const programs::Program& program);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() = default;  // kills its group

  // Gives it this, as it takes it; wait() goes on with what does not fit into the pipe.
  void send(std::string lines);
  // The next line that it wrote, without its end; nullopt: none is whole yet. Throws BadLine when
  // it is too long.
  [[nodiscard]] std::optional<std::string> next_line();
  // Waits at most this long for anything to happen, and reads what has come.
  void wait(std::chrono::milliseconds most);
  // Looks whether anything has happened.
  void look() { wait(std::chrono::milliseconds(0)); }

  // It has ended, or closed one of its pipes: what it wrote before can still be taken.
  [[nodiscard]] bool gone() const { return gone_; }
  // There are bytes that it was not asked for, or that it has not taken.
  [[nodiscard]] bool out_of_step() const { return !in_.empty() || !out_.empty(); }
  // How many bytes it has written, wherever.
  [[nodiscard]] std::uint64_t bytes_said() const { return bytes_said_; }
  // Its standard output and error.
  [[nodiscard]] programs::Tail& said() { return said_; }
  // nullopt: it has ended.
  [[nodiscard]] std::optional<std::uint64_t> resident_mib() const;

  // "No task will come."
  void close_input();
  // Waits so long for its end, kills its group, and says how it ended.
  std::string end(std::chrono::milliseconds patience);

 private:
  void write_on();
  void read_lines(std::size_t most);
  bool read_output();

  std::optional<programs::Process> process_;
  programs::Fd to_;                 // its descriptor 3
  programs::Fd from_;               // its descriptor 4
  programs::Fd output_;             // its standard output and error
  std::string out_;                 // what it is given
  std::size_t written_ = 0;         // of out_
  std::string in_;                  // not yet taken
  std::size_t scanned_ = 0;         // of in_: there is no end of a line in it
  std::unique_ptr<char[]> buffer_;  // for what is read
  programs::Tail said_;
  std::uint64_t bytes_said_ = 0;
  bool gone_ = false;
};

}  // namespace pipe_plugin
