// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace allot::cli {

// From now on the first SIGINT or SIGTERM is only noted, so that a command can say how far it got;
// the second ends the process.
void note_interrupts();
[[nodiscard]] bool interrupted();

// A file or standard input, read so that a failure is never taken for the end: half of a file would
// be submitted as if it were all.
class Input {
 public:
  // "-" is standard input. Throws Error(kExitNoInput) when it cannot be read.
  explicit Input(const std::string& path);

  // For messages: the path, or "stdin".
  [[nodiscard]] const std::string& name() const { return name_; }

  // Of a regular file, what was left of it when it was opened; 0 when nobody knows.
  [[nodiscard]] std::uint64_t size() const;
  // Bytes that next_line() handed out.
  [[nodiscard]] std::uint64_t handed_out() const { return read_ - (buffer_.size() - at_); }

  // All of it; what is beyond `most` + 1 bytes is left unread.
  [[nodiscard]] std::string read_all(std::size_t most);

  // The next line without its end; false when there is none, or when interrupted. A line that has
  // more than `most` bytes throws Error(kExitBadInput).
  bool next_line(std::string& line, std::size_t most);

 private:
  // Appends what the next read() gives to buffer_; false at the end.
  bool fill();

  std::string name_;
  UniqueFd file_;  // none for standard input, which is not ours to close
  int fd_ = 0;
  std::string buffer_;
  std::uint64_t read_ = 0;  // bytes in all
  std::size_t at_ = 0;      // begin of what was not handed out yet
};

}  // namespace allot::cli
