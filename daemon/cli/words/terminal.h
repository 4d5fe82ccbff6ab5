// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

// The terminal of a person: colours, questions and a progress line.
namespace allot::cli {

// True if lines of the terminal can be overwritten, which is impossible if $TERM is unset or
// "dumb".
[[nodiscard]] bool is_terminal(int fd);

// True for such a terminal, unless $NO_COLOR is set and not empty (https://no-color.org).
[[nodiscard]] bool wants_colour(int fd);

enum class Colour { kNone, kBold, kRed };

// The text in this colour if `on`, else unchanged.
[[nodiscard]] std::string coloured(const std::string& text, Colour colour, bool on);

// Prefix "allot:" of an error line on standard error.
[[nodiscard]] std::string error_head();

// Asks on a terminal whether to `verb` ("retry") `what` ("3 dead tasks of queue mail"); otherwise
// --yes is required. Throws Error for any answer but yes.
void confirm(const std::string& verb, const std::string& what, bool yes);

// Progress of an operation on many tasks, as a line of at most `columns` bytes:
// "[=========>          ]  45 %  123000 tasks  8123/s". `done` and `total` have the same, arbitrary
// unit. Without a total (0), no bar.
[[nodiscard]] std::string progress_line(std::uint64_t done, std::uint64_t total,
                                        std::uint64_t tasks, Nanos elapsed, std::size_t columns);

// Progress bar on standard error, erased at the end. Does nothing if that is not a terminal.
class Progress {
 public:
  // `total` of 0: the total is unknown, as for a pipe.
  explicit Progress(std::uint64_t total, bool wanted = true);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { wipe(); }

  // Draws, at most once every 100 ms.
  void show(std::uint64_t done, std::uint64_t tasks);
  // Erases the bar before another line is written.
  void wipe();

 private:
  std::uint64_t total_;
  bool on_;
  Nanos began_ = 0;
  Nanos next_ = 0;
  std::size_t drawn_ = 0;  // length of the line on the terminal in bytes
};

}  // namespace allot::cli
