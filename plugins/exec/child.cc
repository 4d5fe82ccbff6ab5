// SPDX-License-Identifier: Apache-2.0
#include "child.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace exec_plugin {
namespace {

[[noreturn]] void fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

// Returns a descriptor above the three that the child gets, because this process may have closed
// its own.
Fd above_standard(int fd, const char* what) {
  if (fd < 0) fail(errno, what);
  Fd low(fd);
  if (fd > STDERR_FILENO) return low;
  Fd high(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (high.get() < 0) fail(errno, what);
  return high;
}

struct Pipe {
  Fd read;
  Fd write;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail(errno, "no pipe");
  Fd write(ends[1]);
  Pipe made;
  made.read = above_standard(ends[0], "no pipe");
  made.write = above_standard(::fcntl(write.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1), "no pipe");
  return made;
}

// The payload as a file: nobody waits for it, and a command may leave it unread.
Fd file_of(std::string_view content) {
  Fd file = above_standard(::memfd_create("allot-payload", MFD_CLOEXEC), "no memory file");
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t put =
        ::pwrite(file.get(), content.data() + at, content.size() - at, static_cast<off_t>(at));
    if (put < 0 && errno != EINTR) fail(errno, "the payload cannot be passed on");
    if (put > 0) at += static_cast<std::size_t>(put);
  }
  return file;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  return raw;
}

// The child's report when it cannot become the command.
struct Trouble {
  int error = 0;
  bool in_directory = false;
};

struct Start {
  char* const* argv;
  char* const* environment;
  const char* directory;
  int input;
  int output;
  int error_output;
  int trouble;
  pid_t parent;
};

// Only calls that are safe in the fork of a process with threads.
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
  if (::getppid() != start.parent) ::_exit(126);  // it died before prctl
  if (::dup2(start.input, STDIN_FILENO) < 0 || ::dup2(start.output, STDOUT_FILENO) < 0 ||
      ::dup2(start.error_output, STDERR_FILENO) < 0) {
    give_up(false);
  }
  ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  if (::chdir(start.directory) != 0) give_up(true);
  ::execve(start.argv[0], start.argv, start.environment);
  give_up(false);
  ::_exit(126);
}

}  // namespace

void Tail::add(const char* data, std::size_t size) {
  bytes_.append(data, size);
  if (bytes_.size() > 2 * kSize) bytes_.erase(0, bytes_.size() - kSize);
}

std::string Tail::last(std::size_t most) const {
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

Child::Child(const Command& command, const std::vector<std::string>& variables,
             std::string_view input) {
  std::vector<std::string> words = command.argv;
  std::vector<std::string> environment = command.environment;
  environment.insert(environment.end(), variables.begin(), variables.end());
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> names = pointers(environment);
  const Fd payload = file_of(input);
  const Fd nowhere = above_standard(::open("/dev/null", O_WRONLY | O_CLOEXEC), "/dev/null");
  Pipe output = make_pipe();
  Pipe trouble = make_pipe();
  const int out = command.keep_stdout ? output.write.get() : nowhere.get();
  const Start start = {argv.data(), names.data(),       command.directory.c_str(), payload.get(),
                       out,         output.write.get(), trouble.write.get(),       ::getpid()};
  pid_ = ::fork();
  if (pid_ == 0) become(start);
  if (pid_ < 0) fail(errno, "no process");
  ::setpgid(pid_, pid_);  // both do it, so that neither waits for the other
  output_ = std::move(output.read);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  alive_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  output.write = Fd();
  trouble.write = Fd();
  Trouble told;
  ssize_t got = 0;
  do {
    got = ::read(trouble.read.get(), &told, sizeof told);  // exec closes it
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof told)) return;
  (void)reap();
  fail(told.error,
       told.in_directory ? "cannot go to " + command.directory : "cannot start " + command.argv[0]);
}

Child::~Child() {
  if (pid_ > 0) (void)reap();
}

bool Child::wait(std::chrono::milliseconds most) {
  // Without a pidfd it asks every few milliseconds whether the command has ended.
  const int patience = alive_.get() >= 0 ? static_cast<int>(most.count()) : 5;
  pollfd events[] = {{output_.get(), POLLIN, 0}, {alive_.get(), POLLIN, 0}};
  if (::poll(events, 2, patience) > 0 && events[0].revents != 0) (void)read_on();
  siginfo_t info = {};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid_;
}

void Child::signal(int number) const {
  ::kill(-pid_, number);
}

std::optional<int> Child::reap() {
  // Kills the group before reaping: later another group could have its number.
  signal(SIGKILL);
  int status = 0;
  pid_t reaped = 0;
  do {
    reaped = ::waitpid(pid_, &status, 0);
  } while (reaped < 0 && errno == EINTR);
  pid_ = -1;
  // Reads the rest of the pipe, within limits, because a process that left the group may go on
  // writing.
  for (int i = 0; i < 16 && output_.get() >= 0 && read_on(); ++i) {
  }
  return reaped < 0 ? std::nullopt : std::optional(status);
}

// Reads what has come. False: nothing.
bool Child::read_on() {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(output_.get(), buffer.data(), buffer.size());
  if (got == 0) output_ = Fd();  // poll ignores it from now on
  if (got <= 0) return false;
  said_.add(buffer.data(), static_cast<std::size_t>(got));
  bytes_said_ += static_cast<std::size_t>(got);
  return true;
}

}  // namespace exec_plugin
