// SPDX-License-Identifier: Apache-2.0
#include "cli/words/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "base/error.h"
#include "base/posix.h"

namespace allot::cli {
namespace {

constexpr Nanos kInterval = 100 * kMilli;
constexpr std::size_t kWidest = 100;

std::size_t columns_of(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

bool is_terminal(int fd) {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0 && isatty(fd) != 0;
}

bool wants_colour(int fd) {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && is_terminal(fd);
}

std::string coloured(const std::string& text, Colour colour, bool on) {
  if (!on || colour == Colour::kNone) return text;
  return (colour == Colour::kBold ? "\x1b[1m" : "\x1b[1;31m") + text + "\x1b[0m";
}

std::string error_head() {
  return coloured("allot:", Colour::kRed, wants_colour(STDERR_FILENO));
}

void confirm(const std::string& verb, const std::string& what, bool yes) {
  if (yes) {
    std::fprintf(stderr, "%s: %s\n", verb.c_str(), what.c_str());
    return;
  }
  if (!is_terminal(STDIN_FILENO) || !is_terminal(STDERR_FILENO)) {
    throw Error(verb + " would affect " + what + "; nothing was done; confirm with --yes",
                kExitUsage);
  }
  std::fprintf(stderr, "%s: %s. Continue? [y/N] ", verb.c_str(), what.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "Y" && answer != "yes") throw Error("nothing was done");
}

std::string progress_line(std::uint64_t done, std::uint64_t total, std::uint64_t tasks,
                          Nanos elapsed, std::size_t columns) {
  const double seconds = static_cast<double>(elapsed) / kSecond;
  char counts[80];
  std::snprintf(counts, sizeof counts, "%llu tasks  %.0f/s", static_cast<unsigned long long>(tasks),
                seconds > 0 ? static_cast<double>(tasks) / seconds : 0.0);
  if (total == 0) return std::string(counts).substr(0, columns);
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  char percent[16];
  std::snprintf(percent, sizeof percent, "%3d %%  ", static_cast<int>(part * 100));
  const std::string words = std::string(percent) + counts;
  constexpr std::size_t kFrame = 4;  // brackets, and two blanks
  constexpr std::size_t kLeastBar = 10;
  if (columns < words.size() + kFrame + kLeastBar) return words.substr(0, columns);
  const std::size_t width = columns - words.size() - kFrame;
  const auto full = static_cast<std::size_t>(part * static_cast<double>(width));
  std::string bar(full, '=');
  if (full < width) bar += '>';
  bar.resize(width, ' ');
  return "[" + bar + "]  " + words;
}

Progress::Progress(std::uint64_t total, bool wanted)
    : total_(total), on_(wanted && is_terminal(STDERR_FILENO)), began_(on_ ? mono_ns() : 0) {}

void Progress::show(std::uint64_t done, std::uint64_t tasks) {
  if (!on_) return;
  const Nanos now = mono_ns();
  if (now < next_) return;
  next_ = now + kInterval;
  // The last column stays empty, because some terminals start a new line when it is written.
  const std::size_t columns = std::min(kWidest, columns_of(STDERR_FILENO) - 1);
  std::string line = progress_line(done, total_, tasks, now - began_, columns);
  const std::size_t size = line.size();
  if (size < drawn_) line.append(drawn_ - size, ' ');
  drawn_ = size;
  line.insert(0, 1, '\r');
  write_all(STDERR_FILENO, line.data(), line.size());
}

void Progress::wipe() {
  if (drawn_ == 0) return;
  const std::string line = "\r" + std::string(drawn_, ' ') + "\r";
  write_all(STDERR_FILENO, line.data(), line.size());
  drawn_ = 0;
}

}  // namespace allot::cli
