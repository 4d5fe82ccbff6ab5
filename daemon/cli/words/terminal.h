// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

// Output only for people at a terminal: colours, and a line that changes.
namespace allot::cli {

// True for a terminal whose lines can be overwritten, which is impossible with $TERM unset or
// "dumb".
[[nodiscard]] bool is_terminal(int fd);

// True for such a terminal, unless $NO_COLOR is set and not empty (https://no-color.org).
[[nodiscard]] bool wants_colour(int fd);

enum class Colour { kNone, kBold, kRed };

// The text in this colour if `on`, else as it is.
[[nodiscard]] std::string coloured(const std::string& text, Colour colour, bool on);

// "allot:", the beginning of an error line on standard error.
[[nodiscard]] std::string error_head();

// One state of something that is done to many tasks, as a line of at most `columns` bytes:
// "[=========>          ]  45 %  123000 tasks  8123/s". `done` and `total` have the same unit,
// whichever that is. Without a total (0), no bar.
[[nodiscard]] std::string progress_line(std::uint64_t done, std::uint64_t total,
                                        std::uint64_t tasks, Nanos elapsed, std::size_t columns);

// A progress bar on standard error, which it wipes out at its end. Does nothing where that is no
// terminal.
class Progress {
 public:
  // `total` of 0: the total is unknown, as for a pipe.
  explicit Progress(std::uint64_t total, bool wanted = true);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { wipe(); }

  // Draws, unless it did so within the last 100 ms.
  void show(std::uint64_t done, std::uint64_t tasks);
  // Wipes the bar out, before another line is written.
  void wipe();

 private:
  std::uint64_t total_;
  bool on_;
  Nanos began_ = 0;
  Nanos next_ = 0;
  std::size_t drawn_ = 0;  // bytes of the line on the terminal
};

}  // namespace allot::cli
