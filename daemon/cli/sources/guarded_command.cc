// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/guarded_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/mutant.h"

namespace allot::cli {
namespace {

constexpr int kNotFound = 127;  // as in shells
constexpr int kNotExecutable = 126;
constexpr int kTooLate = kExitOutcomeUnknown;  // as for a lock that was not acquired
constexpr Nanos kMostWait = kSecond;           // the clock of poll() stops during a suspend
constexpr Nanos kGrace = 2 * kSecond;
constexpr std::string_view kGuardianName = "lock-guardian";

int timeout_ms(Nanos until, Nanos now) {
  if (until <= now) return 0;
  return static_cast<int>((std::min(until - now, kMostWait) + kMilli - 1) / kMilli);
}

int shell_code(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

// Gives a child the signal dispositions and mask that this program inherited from its caller.
void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

// Replaces "allot" for `pkill`, `killall` and their `-f`: the command line is overwritten where the
// kernel reads it.
void take_name_of_guardian() {
  prctl(PR_SET_NAME, kGuardianName.data());
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  char* const shown = program_invocation_name;
  if (line.size() <= kGuardianName.size()) return;
  if (std::memcmp(shown, line.data(), line.size()) != 0) return;  // the command line was moved
  std::memset(shown, 0, line.size());
  kGuardianName.copy(shown, kGuardianName.size());
}

void become_guardian() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  reset_signals();
  std::signal(SIGPIPE, SIG_IGN);
}

bool has_ended(pid_t child, siginfo_t& info) {
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Children of this thread, except for `spared`.
std::vector<pid_t> children_except(pid_t spared) {
  std::ifstream file("/proc/thread-self/children");
  std::vector<pid_t> children{std::istream_iterator<pid_t>(file), {}};
  std::erase(children, spared);
  return children;
}

// Kills a command and waits until none of its processes is left among the descendants of this
// process: the children of a killed process become children of this process, which is a subreaper.
// Reaps all but `spared`. The group has the number of its leader, which the kernel does not reuse
// before the leader is reaped (S22).
void end_command(pid_t group, pid_t spared = 0) {
  if (mutant::removed("lock_group")) return;
  if (group > 0) ::kill(-group, SIGKILL);
  for (;;) {
    const std::vector<pid_t> children = children_except(spared);
    if (children.empty()) return;
    for (const pid_t child : children) ::kill(child, SIGKILL);
    for (const pid_t child : children) reap(child);
  }
}

// Reads SIGCHLD, SIGCONT and SIGHUP, which it blocks. The kernel sends SIGHUP to both guardians
// when one of them is stopped and their group loses its last parent outside of it.
UniqueFd signals_of_guardian() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGCONT);
  sigaddset(&wanted, SIGHUP);
  sigprocmask(SIG_SETMASK, &wanted, nullptr);
  return UniqueFd(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
}

void drain(const UniqueFd& signals) {
  signalfd_siginfo info{};
  while (::read(signals.get(), &info, sizeof info) > 0) {
  }
}

bool make_pipe(UniqueFd& read_end, UniqueFd& write_end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
  return true;
}

}  // namespace

// Written atomically: fewer bytes than PIPE_BUF.
struct GuardedCommand::Order {
  enum class Kind : std::uint32_t { kStart, kPutOff, kEnd, kSignal };
  Kind kind{};
  std::int32_t signal = 0;
  std::uint64_t token = 0;
  Until until{};
};
struct GuardedCommand::Report {
  enum class Kind : std::uint32_t { kStarted, kEnded };
  Kind kind{};
  std::int32_t number = 0;  // process group, or exit code
};

// Parent of the command. It watches its own parent and has no deadline.
class GuardedCommand::InnerGuardian {
 public:
  InnerGuardian(const std::vector<std::string>& words, pid_t outer)
      : words_(words), outer_(outer), signals_(signals_of_guardian()) {
    prctl(PR_SET_PDEATHSIG, SIGCONT);  // wakes it if it was stopped
  }

  // Writes the process id of the command to `started`. Returns the exit code.
  int run(std::uint64_t token, UniqueFd started) {
    const pid_t self = getpid();
    const pid_t command = fork();
    if (command < 0) return kNotExecutable;
    if (command == 0) exec(self, token);
    setpgid(command, command);
    if (::write(started.get(), &command, sizeof command) < 0) ::kill(-command, SIGKILL);
    started.reset();
    siginfo_t info{};
    while (!has_ended(command, info)) {
      if (getppid() != outer_ && !mutant::removed("lock_inner_guardian")) {
        ::kill(-command, SIGKILL);
        ::kill(command, SIGKILL);  // it may have left its group
      }
      pollfd polled{signals_.get(), POLLIN, 0};
      ::poll(&polled, 1, static_cast<int>(kMostWait / kMilli));
      drain(signals_);
    }
    end_command(command, command);
    return shell_code(info);
  }

 private:
  [[noreturn]] void exec(pid_t inner, std::uint64_t token) {
    setpgid(0, 0);
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != inner) _exit(kNotExecutable);
    setenv("ALLOT_LOCK_TOKEN", std::to_string(token).c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : words_) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    const int error = errno;
    dprintf(STDERR_FILENO, "allot: %s: %s\n", arguments.front(), std::strerror(error));
    _exit(error == ENOENT ? kNotFound : kNotExecutable);
  }

  const std::vector<std::string>& words_;
  const pid_t outer_;
  UniqueFd signals_;
};

// Guardian that knows the deadline (S39).
class GuardedCommand::OuterGuardian {
 public:
  OuterGuardian(const std::vector<std::string>& words, UniqueFd orders, UniqueFd reports)
      : words_(words),
        orders_(std::move(orders)),
        reports_(std::move(reports)),
        signals_(signals_of_guardian()) {}

  int run() {
    for (;;) {
      const Nanos now = boot_ns();
      if (group_ > 0) end_in_time(now);
      const Nanos next = group_ > 0 ? (termed_ ? until_.kill_ns : until_.term_ns) : now + kMostWait;
      // After KILL only the end of the command is awaited.
      std::array<pollfd, 2> polled{{{signals_.get(), POLLIN, 0}, {orders_.get(), POLLIN, 0}}};
      ::poll(polled.data(), orders_.valid() ? 2 : 1,
             killed_ ? static_cast<int>(kMostWait / kMilli) : timeout_ms(next, now));
      if (orders_.valid() && polled[1].revents != 0 && !read_order()) {
        if (group_ < 0) return 0;
        orders_.reset();
        parent_is_gone(boot_ns());
      }
      drain(signals_);
      if (group_ > 0 && ended()) return 0;
    }
  }

 private:
  void end_in_time(Nanos now) {
    if (mutant::removed("lock_guardian")) return;
    if (!termed_ && now >= until_.term_ns) {
      termed_ = true;
      ::kill(-group_, SIGTERM);
      ::kill(-group_, SIGCONT);
    }
    if (!killed_ && now >= until_.kill_ns) {
      killed_ = true;
      ::kill(-group_, SIGKILL);
      ::kill(inner_, SIGKILL);  // its children outside the group move to this process
    }
  }

  // The lock is not renewed any more.
  void parent_is_gone(Nanos now) {
    until_.term_ns = std::min(until_.term_ns, now);
    until_.kill_ns = std::min(until_.kill_ns, now + kGrace);
  }

  // False: no more orders will arrive.
  bool read_order() {
    Order order;
    const ssize_t size = ::read(orders_.get(), &order, sizeof order);
    if (size < 0 && errno == EINTR) return true;
    if (size != static_cast<ssize_t>(sizeof order)) return false;
    switch (order.kind) {
      case Order::Kind::kStart:
        until_ = order.until;
        start(order.token);
        break;
      case Order::Kind::kPutOff:
        if (!termed_) until_ = order.until;
        break;
      case Order::Kind::kEnd:
        until_ = {};
        break;
      case Order::Kind::kSignal:
        if (group_ > 0) ::kill(-group_, order.signal);
        break;
    }
    return true;
  }

  void start(std::uint64_t token) {
    if (boot_ns() >= until_.term_ns) give_up(kTooLate);  // allot was stopped since it took the lock
    UniqueFd read_end;
    UniqueFd write_end;
    if (!make_pipe(read_end, write_end)) give_up(kNotExecutable);
    const pid_t outer = getpid();
    inner_ = fork();
    if (inner_ < 0) give_up(kNotExecutable);
    if (inner_ == 0) {
      orders_.reset();
      reports_.reset();  // the closed pipe reports the end of the outer guardian
      read_end.reset();
      become_guardian();
      _exit(InnerGuardian(words_, outer).run(token, std::move(write_end)));
    }
    write_end.reset();
    if (::read(read_end.get(), &group_, sizeof group_) != static_cast<ssize_t>(sizeof group_)) {
      reap(inner_);
      give_up(kNotExecutable);
    }
    report(Report::Kind::kStarted, group_);
  }

  [[noreturn]] void give_up(int code) const {
    report(Report::Kind::kEnded, code);
    _exit(0);
  }

  // The inner guardian has ended, after everything else.
  bool ended() {
    siginfo_t info{};
    if (!has_ended(inner_, info)) return false;
    end_command(group_);
    report(Report::Kind::kEnded, shell_code(info));
    return true;
  }

  void report(Report::Kind kind, int number) const {
    const Report report{kind, number};
    // The reader may be gone.
    if (::write(reports_.get(), &report, sizeof report) < 0) return;
  }

  const std::vector<std::string>& words_;
  UniqueFd orders_;
  UniqueFd reports_;
  UniqueFd signals_;
  pid_t inner_ = -1;
  pid_t group_ = -1;  // process group of the command
  Until until_;
  bool termed_ = false;
  bool killed_ = false;
};

GuardedCommand::GuardedCommand(const std::vector<std::string>& words) {
  UniqueFd orders;
  UniqueFd reports;
  if (!make_pipe(orders, orders_) || !make_pipe(reports_, reports)) {
    throw Error(std::string("pipe: ") + std::strerror(errno));
  }
  const pid_t parent = getpid();
  guardian_ = fork();
  if (guardian_ < 0) throw Error(std::string("fork: ") + std::strerror(errno));
  if (guardian_ == 0) {
    // Wakes a stopped guardian, so that it reads the end of the pipe.
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (getppid() != parent) _exit(0);
    orders_.reset();
    reports_.reset();
    setpgid(0, 0);  // the parent decides whether to forward a terminal's signals
    take_name_of_guardian();
    become_guardian();
    _exit(OuterGuardian(words, std::move(orders), std::move(reports)).run());
  }
  fcntl(orders_.get(), F_SETFL, O_NONBLOCK);  // a stopped guardian must not block the caller
  prctl(PR_SET_CHILD_SUBREAPER, 1);           // adopts the processes of killed guardians
}

GuardedCommand::~GuardedCommand() {
  orders_.reset();
  if (group_ > 0 && !exit_code_) end_group();
  if (guardian_ < 0) return;
  ::kill(guardian_, SIGCONT);
  reap(guardian_);
}

void GuardedCommand::send(const Order& order) {
  if (!orders_.valid()) return;
  if (::write(orders_.get(), &order, sizeof order) < 0) return;
}

void GuardedCommand::start(std::uint64_t token, const Until& until) {
  send({Order::Kind::kStart, 0, token, until});
}

void GuardedCommand::put_off(const Until& until) {
  send({Order::Kind::kPutOff, 0, 0, until});
}

void GuardedCommand::end_now() {
  send({Order::Kind::kEnd, 0, 0, {}});
}

void GuardedCommand::pass_on(int signal) {
  send({Order::Kind::kSignal, signal, 0, {}});
}

void GuardedCommand::read_reports() {
  Report report;
  ssize_t size = 0;
  do {
    size = ::read(reports_.get(), &report, sizeof report);
  } while (size < 0 && errno == EINTR);
  if (size != static_cast<ssize_t>(sizeof report)) {  // the guardian was killed
    end_group();
    return;
  }
  if (report.kind == Report::Kind::kStarted) {
    group_ = report.number;
  } else {
    exit_code_ = report.number;
  }
}

// The children of a killed guardian become children of this process, which is a subreaper, too.
void GuardedCommand::end_group() {
  if (exit_code_) return;
  ::kill(guardian_, SIGKILL);
  reap(guardian_);
  end_command(group_);
  guardian_ = -1;
  exit_code_ = 128 + SIGKILL;
}

}  // namespace allot::cli
