// SPDX-License-Identifier: Apache-2.0
#include "support/terminal.h"

#include <fcntl.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include "support/eventually.h"

namespace allot::support {

Terminal::Terminal() {
  int ours = -1;
  int theirs = -1;
  termios mode{};
  cfmakeraw(&mode);
  winsize size{};
  size.ws_row = 24;
  size.ws_col = 80;
  if (::openpty(&ours, &theirs, nullptr, &mode, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "openpty");
  }
  ours_.reset(ours);
  theirs_.reset(theirs);
  for (const int fd : {ours, theirs}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::fcntl(ours, F_SETFL, O_NONBLOCK);
}

void Terminal::take() {
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ours_.get(), buffer, sizeof buffer)) > 0;) {
    written_.append(buffer, static_cast<std::size_t>(got));
  }
}

void Terminal::type(const std::string& text) {
  if (::write(ours_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::system_error(errno, std::generic_category(), "terminal");
  }
}

Finished Terminal::run(std::vector<std::string> command, ProcessOptions options,
                       const std::vector<int>& streams) {
  for (const int stream : streams) options.descriptors.emplace_back(theirs_.get(), stream);
  options.environment.emplace_back("TERM=xterm");  // the first of two values applies
  Process process(std::move(command), options);
  // An unread terminal accepts only one page.
  const bool ended = eventually([&] {
    take();
    return !process.running();
  });
  if (!ended) throw std::runtime_error("a program on a terminal still runs");
  take();
  return {*process.wait(), process.out(), process.err()};
}

std::vector<std::string> Terminal::seen() const {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  for (const char c : written_) {
    if (c == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (c == '\r') {
      column = 0;
    } else {
      if (lines.back().size() <= column) lines.back().resize(column + 1, ' ');
      lines.back()[column++] = c;
    }
  }
  for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace allot::support
