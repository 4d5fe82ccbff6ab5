// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.h"

namespace allot::cli {

// From now on the process only notes the first SIGINT or SIGTERM, so that a command can say how far
// it got; the second one ends the process.
void note_interrupts();
[[nodiscard]] bool interrupted();

// Waits until `fd` can be read or has failed, at most for `most`; -1 is never readable. False: that
// time is over, or a signal was noted, no matter how shortly before the wait.
[[nodiscard]] bool wait_readable(int fd, std::optional<std::chrono::milliseconds> most = {});

// A file or standard input. A failure never looks like the end, because then half of a file would
// be submitted as if it were all.
class Input {
 public:
  // "-" is standard input. Throws Error(kExitNoInput) when it cannot be read.
  explicit Input(const std::string& path);

  // For messages: the path, or "stdin".
  [[nodiscard]] const std::string& name() const { return name_; }

  // How much of a regular file was left when it was opened; 0 when that is unknown.
  [[nodiscard]] std::uint64_t size() const;
  // Bytes that next_line() handed out.
  [[nodiscard]] std::uint64_t handed_out() const { return read_ - (buffer_.size() - at_); }

  // Reads all of the input, but at most `most` + 1 bytes.
  [[nodiscard]] std::string read_all(std::size_t most);

  // Reads the next line without its end; false when there is none, or after an interrupt. A line
  // with more than `most` bytes throws Error(kExitBadInput).
  bool next_line(std::string& line, std::size_t most);

 private:
  // Appends the result of the next read() to buffer_; false at the end.
  bool fill();

  std::string name_;
  UniqueFd file_;  // none for standard input, which we must not close
  int fd_ = 0;
  std::string buffer_;
  std::uint64_t read_ = 0;  // bytes in all
  std::size_t at_ = 0;      // begin of the bytes that were not handed out yet
};

}  // namespace allot::cli
