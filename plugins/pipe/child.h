// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "pipe/settings.h"
#include "programs/process.h"

namespace pipe_plugin {

// A running program with its two pipes. Handles lines without interpreting them. Used by one
// thread; SIGKILL ends the program with the thread that created it.
class Child {
 public:
  // Starts the program. Throws std::system_error that names the failed step.
  explicit Child(const programs::Program& program);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() = default;  // kills its group

  // Queues lines for the program; wait() writes the part that does not fit into the pipe.
  void send(std::string lines);
  // The next complete line without its line feed; nullopt: none yet. Throws BadLine if it is too
  // long.
  [[nodiscard]] std::optional<std::string> next_line();
  // Waits at most this long for any event, and reads available data.
  void wait(std::chrono::milliseconds most);
  // Processes pending events.
  void poll() { wait(std::chrono::milliseconds(0)); }

  // It has exited, or closed a pipe: lines written before can still be read.
  [[nodiscard]] bool gone() const { return gone_; }
  // There are unexpected bytes from the program, or bytes that it has not read.
  [[nodiscard]] bool out_of_step() const { return !in_.empty() || !out_.empty(); }
  // Number of bytes written by the program, on all its descriptors.
  [[nodiscard]] std::uint64_t bytes_said() const { return bytes_taken_ + output_.bytes_read(); }
  // Its standard output and error.
  [[nodiscard]] programs::Output& output() { return output_; }
  // Resident memory; nullopt: it has exited.
  [[nodiscard]] std::optional<std::uint64_t> resident_mib() const;

  // Tells the program that no further task follows.
  void close_input();
  // Waits at most `patience` for its exit, kills its group, and describes the exit.
  std::string end(std::chrono::milliseconds patience);

 private:
  void write_on();
  void read_lines(std::size_t most);

  std::optional<programs::Process> process_;
  allot::UniqueFd to_;    // its descriptor 3
  allot::UniqueFd from_;  // its descriptor 4
  programs::Output output_;
  std::string out_;                 // bytes to write
  std::size_t written_ = 0;         // of out_
  std::string in_;                  // received, not yet consumed
  std::size_t scanned_ = 0;         // prefix of in_ without a line feed
  std::unique_ptr<char[]> buffer_;  // for reads
  std::uint64_t bytes_taken_ = 0;   // all bytes of lines
  bool gone_ = false;
};

}  // namespace pipe_plugin
