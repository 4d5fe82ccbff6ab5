// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace allot::cli {

// From now on the first SIGINT or SIGTERM is only recorded, so that a command can report its
// progress; the second one ends the process.
void note_interrupts();
[[nodiscard]] bool interrupted();

// Waits until `fd` is readable or has failed, for at most `most`; -1 is never readable. False:
// timeout, or a signal was recorded, no matter how shortly before the wait.
[[nodiscard]] bool wait_readable(int fd, std::optional<std::chrono::milliseconds> most = {});

// A file or standard input. A read failure is never reported as the end, because otherwise half of
// a file would be submitted as if it were complete.
class Input {
 public:
  // "-" is standard input. Throws Error(kExitNoInput) when it cannot be read.
  explicit Input(const std::string& path);

  // For messages: the path, or "stdin".
  [[nodiscard]] const std::string& name() const { return name_; }

  // Number of bytes left in a regular file when it was opened; 0 if unknown.
  [[nodiscard]] std::uint64_t size() const;
  // Number of bytes returned by next_line().
  [[nodiscard]] std::uint64_t handed_out() const { return read_ - (buffer_.size() - at_); }

  // Reads all of the input, but at most `most` + 1 bytes.
  [[nodiscard]] std::string read_all(std::size_t most);

  // Reads the next line without its line end; false at the end of the input or after an interrupt.
  // Throws Error(kExitBadInput) for a line with more than `most` bytes.
  bool next_line(std::string& line, std::size_t most);

 private:
  // Appends the result of the next read() to buffer_; false at the end.
  bool fill();

  std::string name_;
  UniqueFd file_;  // empty for standard input, which must not be closed
  int fd_ = 0;
  std::string buffer_;
  std::uint64_t read_ = 0;  // total number of bytes
  std::size_t at_ = 0;      // start of the bytes that were not returned yet
};

}  // namespace allot::cli
