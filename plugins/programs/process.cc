// SPDX-License-Identifier: Apache-2.0
#include "programs/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>
#include <utility>

namespace programs {
namespace {

constexpr int kLast = 4;  // highest descriptor passed to a program

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  return raw;
}

// Report of the child if exec fails.
struct Trouble {
  int error = 0;
  bool in_directory = false;
};

struct Start {
  char* const* argv;
  char* const* environment;
  const char* directory;
  const int* descriptors;
  int count;
  int trouble;
  pid_t parent;
};

// Uses only calls that are safe after fork() in a process with threads.
[[noreturn]] void become(const Start& start) {
  const auto give_up = [&start](bool in_directory) {
    const Trouble trouble = {errno, in_directory};
    const bool told = ::write(start.trouble, &trouble, sizeof trouble) > 0;
    ::_exit(told ? 127 : 126);
  };
  ::setpgid(0, 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != start.parent) ::_exit(126);  // the parent died before prctl
  for (int number = 0; number < start.count; ++number) {
    if (::dup2(start.descriptors[number], number) < 0) give_up(false);
  }
  ::close_range(static_cast<unsigned>(start.count), UINT_MAX, CLOSE_RANGE_CLOEXEC);
  if (::chdir(start.directory) != 0) give_up(true);
  ::execve(start.argv[0], start.argv, start.environment);
  give_up(false);
  ::_exit(126);
}

}  // namespace

// This process may have closed its standard descriptors.
allot::UniqueFd above_those_of_programs(int fd, const char* what) {
  if (fd < 0) fail(errno, what);
  allot::UniqueFd low(fd);
  if (fd > kLast) return low;
  allot::UniqueFd high(::fcntl(fd, F_DUPFD_CLOEXEC, kLast + 1));
  if (high.get() < 0) fail(errno, what);
  return high;
}

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(errno, "no pipe");
  allot::UniqueFd write(ends[1]);
  Pipe made;
  made.read = above_those_of_programs(ends[0], "no pipe");
  made.write = above_those_of_programs(::fcntl(write.get(), F_DUPFD_CLOEXEC, kLast + 1), "no pipe");
  return made;
}

std::optional<std::size_t> read_some(const allot::UniqueFd& from, char* buffer, std::size_t size) {
  const ssize_t got = ::read(from.get(), buffer, size);
  if (got < 0) return std::nullopt;
  return static_cast<std::size_t>(got);
}

Process::Process(const Program& program, const std::vector<std::string>& variables,
                 const std::vector<int>& descriptors) {
  std::vector<std::string> words = program.argv;
  std::vector<std::string> environment = program.environment;
  environment.insert(environment.end(), variables.begin(), variables.end());
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> names = pointers(environment);
  Pipe trouble = make_pipe();
  const Start start = {argv.data(),
                       names.data(),
                       program.directory.c_str(),
                       descriptors.data(),
                       static_cast<int>(descriptors.size()),
                       trouble.write.get(),
                       ::getpid()};
  pid_ = ::fork();
  if (pid_ == 0) become(start);
  if (pid_ < 0) fail(errno, "no process");
  ::setpgid(pid_, pid_);  // both processes do it, so that neither waits
  alive_ = allot::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  trouble.write = allot::UniqueFd();
  Trouble told;
  ssize_t got = 0;
  do {
    got = ::read(trouble.read.get(), &told, sizeof told);  // exec closes it
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof told)) return;
  (void)reap();
  fail(told.error,
       told.in_directory ? "cannot go to " + program.directory : "cannot start " + program.argv[0]);
}

Process::~Process() {
  if (pid_ > 0) (void)reap();
}

bool Process::ended() const {
  if (pid_ <= 0) return true;
  siginfo_t info = {};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid_;
}

void Process::signal(int number) const {
  if (pid_ > 0) ::kill(-pid_, number);
}

std::optional<int> Process::reap() {
  if (pid_ <= 0) return std::nullopt;  // kill and waitpid treat -1 as all processes
  // Kills the group before reaping, because its number may be reused later.
  signal(SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  pid_ = -1;
  return reaped < 0 ? std::nullopt : std::optional(status);
}

std::string how_it_ended(std::optional<int> status) {
  if (!status) return "its exit status is unknown";
  if (WIFSIGNALED(*status)) {
    return "signal " + std::to_string(WTERMSIG(*status)) + " (" + ::strsignal(WTERMSIG(*status)) +
           ")";
  }
  return "exit code " + std::to_string(WEXITSTATUS(*status));
}

Output::Output(allot::UniqueFd pipe) : pipe_(std::move(pipe)) {
  ::fcntl(pipe_.get(), F_SETFL, O_NONBLOCK);
}

bool Output::read() {
  if (pipe_.get() < 0) return false;
  std::array<char, 65536> buffer{};
  const auto got = read_some(pipe_, buffer.data(), buffer.size());
  if (got == std::size_t{0}) pipe_.reset();  // poll ignores an empty descriptor
  if (got.value_or(0) == 0) return false;
  bytes_.append(buffer.data(), *got);
  bytes_read_ += *got;
  if (bytes_.size() > 2 * kSize) bytes_.erase(0, bytes_.size() - kSize);
  return true;
}

void Output::drain() {
  for (int i = 0; i < 16 && read(); ++i) {
  }
}

std::string Output::last(std::size_t most) const {
  most = std::min(most, kSize);
  std::size_t begin = bytes_.size() > most ? bytes_.size() - most : 0;
  const auto continues = [this](std::size_t at) {
    return at < bytes_.size() && (static_cast<unsigned char>(bytes_[at]) & 0xC0U) == 0x80U;
  };
  for (int i = 0; begin > 0 && i < 3 && continues(begin); ++i) ++begin;
  std::string text = bytes_.substr(begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::string Output::behind(std::string what) const {
  what.resize(std::min(what.size(), kSize - 1));
  const std::string text = last(kSize - what.size() - 1);
  return text.empty() ? what : std::move(what) + "\n" + text;
}

}  // namespace programs
