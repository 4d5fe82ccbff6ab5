// SPDX-License-Identifier: Apache-2.0
#include "pipe/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>
#include <vector>

#include "pipe/lines.h"

namespace pipe_plugin {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kChunk = 65536;

// Blocks SIGPIPE during a write if the process does not ignore it, because a plugin must not change
// the signal handlers of a process. Workers ignore it, so they need only the check.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    struct sigaction now = {};
    is_fatal_ = ::sigaction(SIGPIPE, nullptr, &now) != 0 || now.sa_handler == SIG_DFL;
    if (!is_fatal_) return;
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    if (!is_fatal_) return;
    const timespec none{};
    if (raised_ && !was_pending_) ::sigtimedwait(&pipe_, nullptr, &none);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  void raised() { raised_ = true; }

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool is_fatal_ = true;
  bool was_pending_ = false;
  bool raised_ = false;
};

}  // namespace

Child::Child(const programs::Program& program)
    : buffer_(std::make_unique_for_overwrite<char[]>(kChunk)) {
  const allot::UniqueFd nothing =
      programs::above_those_of_programs(::open("/dev/null", O_RDONLY | O_CLOEXEC), "/dev/null");
  programs::Pipe in = programs::make_pipe();
  programs::Pipe out = programs::make_pipe();
  programs::Pipe output = programs::make_pipe();
  process_.emplace(program, std::vector<std::string>{},
                   std::vector<int>{nothing.get(), output.write.get(), output.write.get(),
                                    in.read.get(), out.write.get()});
  to_ = std::move(in.write);
  from_ = std::move(out.read);
  output_ = programs::Output(std::move(output.read));
  for (const int pipe : {to_.get(), from_.get()}) ::fcntl(pipe, F_SETFL, O_NONBLOCK);
}

void Child::send(std::string lines) {
  if (out_.empty()) {
    out_ = std::move(lines);
  } else {
    out_ += lines;
  }
  write_on();
}

void Child::write_on() {
  NoPipeSignal guard;
  while (written_ < out_.size() && to_.get() >= 0) {
    const ssize_t put = ::write(to_.get(), out_.data() + written_, out_.size() - written_);
    if (put >= 0) {
      written_ += static_cast<std::size_t>(put);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      if (errno == EPIPE) guard.raised();
      to_ = allot::UniqueFd();
      gone_ = true;  // it no longer reads
    }
  }
  if (written_ < out_.size()) return;
  out_.clear();
  written_ = 0;
}

std::optional<std::string> Child::next_line() {
  const std::size_t end = in_.find('\n', scanned_);
  scanned_ = end == std::string::npos ? in_.size() : 0;
  if (std::min(end, in_.size()) > kMaxLine) {
    throw BadLine("a line longer than " + std::to_string(kMaxLine) + " bytes");
  }
  if (end == std::string::npos) return std::nullopt;
  std::string line = end + 1 == in_.size() ? std::exchange(in_, {}) : in_.substr(0, end + 1);
  in_.erase(0, std::min(in_.size(), end + 1));
  line.pop_back();
  return line;
}

// Polls the pipe of lines first: once a verdict is there, all earlier output is there, too.
void Child::wait(milliseconds most) {
  constexpr milliseconds kWithoutPidfd{5};
  const bool has_pidfd = process_->alive() >= 0;
  if (!has_pidfd) most = std::min(most, kWithoutPidfd);
  const int writable = written_ < out_.size() ? to_.get() : -1;
  std::array<pollfd, 4> events = {{{from_.get(), POLLIN, 0},
                                   {output_.fd(), POLLIN, 0},
                                   {process_->alive(), POLLIN, 0},
                                   {writable, POLLOUT, 0}}};
  (void)::poll(events.data(), events.size(), static_cast<int>(most.count()));
  if (events[3].revents != 0) write_on();
  // After the exit, all its output is read; a process that it left behind may keep writing.
  const bool ended = has_pidfd ? events[2].revents != 0 : process_->ended();
  if (events[1].revents != 0 || ended) (void)output_.read();
  if (events[0].revents != 0 || ended) read_lines(ended ? kMaxLine : kChunk);
  if (ended) gone_ = true;
}

void Child::read_lines(std::size_t most) {
  for (std::size_t taken = 0; taken < most && from_.get() >= 0;) {
    const auto got = programs::read_some(from_, buffer_.get(), kChunk);
    if (!got) return;
    if (*got == 0) {
      from_ = allot::UniqueFd();
      gone_ = true;  // it no longer writes
    }
    in_.append(buffer_.get(), *got);
    bytes_taken_ += *got;
    taken += *got;
    if (*got < kChunk) return;  // the pipe is empty
  }
}

std::optional<std::uint64_t> Child::resident_mib() const {
  std::ifstream pages("/proc/" + std::to_string(process_->pid()) + "/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  if (!(pages >> all >> resident)) return std::nullopt;
  return (resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) >> 20U;
}

void Child::close_input() {
  to_ = allot::UniqueFd();
}

std::string Child::end(milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (auto left = patience; left.count() > 0 && !process_->ended();
       left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now())) {
    wait(left);
    in_.clear();
  }
  const auto status = process_->reap();
  output_.drain();
  gone_ = true;
  return programs::how_it_ended(status);
}

}  // namespace pipe_plugin
