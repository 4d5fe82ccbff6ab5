// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/error.h"

namespace allot::cli {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr int kNoted[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t noted = 0;

[[noreturn]] void cannot_read(const std::string& name) {
  throw Error(name + ": cannot be read: " + std::strerror(errno), kExitNoInput);
}

}  // namespace

void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { noted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // without SA_RESTART: a signal must end a wait
  for (const int signal : kNoted) sigaction(signal, &action, nullptr);
}

bool interrupted() {
  return noted != 0;
}

// The signals are unblocked only while ppoll() waits. A signal between the check of `noted` and the
// wait would otherwise be noticed only after the wait, for standard input perhaps never.
bool wait_readable(int fd, std::optional<std::chrono::milliseconds> most) {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  for (const int signal : kNoted) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, &before);
  sigset_t during = before;
  for (const int signal : kNoted) sigdelset(&during, signal);

  const auto count = most.value_or(std::chrono::milliseconds(0)).count();
  const timespec time{count / 1'000, count % 1'000 * 1'000'000};
  pollfd input{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = interrupted() ? 0 : ppoll(&input, 1, most ? &time : nullptr, &during);
  } while (ready < 0 && errno == EINTR);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return ready != 0;  // the following read reports a failure
}

Input::Input(const std::string& path) : name_(path == "-" ? "stdin" : path) {
  if (path == "-") return;
  file_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file_.valid()) cannot_read(name_);
  fd_ = file_.get();
}

std::uint64_t Input::size() const {
  struct stat status {};
  if (fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  const off_t left = status.st_size - (lseek(fd_, 0, SEEK_CUR) - static_cast<off_t>(read_));
  return left > 0 ? static_cast<std::uint64_t>(left) : 0;
}

bool Input::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kChunk);
  ssize_t got = 0;
  do {
    got = wait_readable(fd_) ? read(fd_, buffer_.data() + had, kChunk) : 0;
  } while (got < 0 && errno == EINTR);
  buffer_.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
  if (got < 0) cannot_read(name_);
  if (got > 0) read_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

std::string Input::read_all(std::size_t most) {
  while (buffer_.size() <= most && fill()) {
  }
  if (buffer_.size() > most + 1) buffer_.resize(most + 1);
  return std::move(buffer_);
}

bool Input::next_line(std::string& line, std::size_t most) {
  std::size_t end = buffer_.find('\n', at_);
  while (end == std::string::npos) {
    const std::size_t examined = buffer_.size() - at_;  // fill() moves this to the front
    const bool more = examined <= most && fill();
    if (interrupted()) return false;
    end = buffer_.find('\n', at_ + examined);
    if (!more && end == std::string::npos) end = buffer_.size();
  }
  if (end - at_ > most) {
    throw Error("longer than " + std::to_string(most) + " bytes, the limit of a line",
                kExitBadInput);
  }
  if (at_ == buffer_.size()) return false;
  line.assign(buffer_, at_, end - at_);
  at_ = std::min(end + 1, buffer_.size());
  return true;
}

}  // namespace allot::cli
