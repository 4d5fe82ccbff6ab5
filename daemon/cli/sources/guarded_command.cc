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

#include "base/error.h"
#include "base/mutant.h"

namespace allot::cli {
namespace {

constexpr int kNotFound = 127;  // as shells have it
constexpr int kNotExecutable = 126;
constexpr int kTooLate = kExitOutcomeUnknown;  // as for a lock that was not got
constexpr Nanos kMostWait = kSecond;           // the clock of poll() stands still in a suspend
constexpr Nanos kGrace = 2 * kSecond;

int timeout_ms(Nanos until, Nanos now) {
  if (until <= now) return 0;
  return static_cast<int>((std::min(until - now, kMostWait) + kMilli - 1) / kMilli);
}

int shell_code(const siginfo_t& info) {
  return info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
}

// A child begins with what exec keeps as its caller's caller had it.
void reset_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

void pipe_or_throw(UniqueFd& read_end, UniqueFd& write_end) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(std::string("pipe: ") + std::strerror(errno));
  }
  read_end.reset(ends[0]);
  write_end.reset(ends[1]);
}

}  // namespace

// Each is written at once: fewer bytes than PIPE_BUF.
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
  std::int32_t number = 0;  // the group, or the exit code
};

// The process between (S39).
class GuardedCommand::Guardian {
 public:
  Guardian(const std::vector<std::string>& words, int orders, int reports)
      : words_(words), orders_(orders), reports_(reports) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, nullptr);
    children_.reset(signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run() {
    for (;;) {
      const Nanos now = boot_ns();
      if (group_ > 0) end_in_time(now);
      const Nanos next = group_ > 0 ? (termed_ ? until_.kill_ns : until_.term_ns) : now + kMostWait;
      // After the KILL only the end of the command is waited for.
      std::array<pollfd, 2> polled{{{children_.get(), POLLIN, 0}, {orders_, POLLIN, 0}}};
      ::poll(polled.data(), orders_ >= 0 ? 2 : 1,
             killed_ ? static_cast<int>(kMostWait / kMilli) : timeout_ms(next, now));
      if (orders_ >= 0 && polled[1].revents != 0 && !read_order()) {
        if (group_ < 0) return 0;
        orders_ = -1;
        parent_is_gone(boot_ns());
      }
      drain_children();
      if (group_ > 0 && has_ended()) return 0;
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
    }
  }

  // Nobody renews the lock any more.
  void parent_is_gone(Nanos now) {
    until_.term_ns = std::min(until_.term_ns, now);
    until_.kill_ns = std::min(until_.kill_ns, now + kGrace);
  }

  // False: there will be none any more.
  bool read_order() {
    Order order;
    const ssize_t size = ::read(orders_, &order, sizeof order);
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
    if (boot_ns() >= until_.term_ns) {  // allot stood still since it took the lock
      report(Report::Kind::kEnded, kTooLate);
      _exit(0);
    }
    const pid_t guardian = getpid();
    const pid_t child = fork();
    if (child < 0) {
      report(Report::Kind::kEnded, kNotExecutable);
      _exit(0);
    }
    if (child == 0) exec(guardian, token);
    setpgid(child, child);
    group_ = child;
    report(Report::Kind::kStarted, child);
  }

  [[noreturn]] void exec(pid_t guardian, std::uint64_t token) {
    setpgid(0, 0);
    reset_signals();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guardian) _exit(kNotExecutable);
    setenv("ALLOT_LOCK_TOKEN", std::to_string(token).c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& word : words_) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments.front(), arguments.data());
    const int error = errno;
    dprintf(STDERR_FILENO, "allot: %s: %s\n", arguments.front(), std::strerror(error));
    _exit(error == ENOENT ? kNotFound : kNotExecutable);
  }

  void drain_children() {
    signalfd_siginfo info{};
    while (::read(children_.get(), &info, sizeof info) > 0) {
    }
  }

  // The group's number is its leader's, which nobody else gets before the leader is reaped (S22).
  // Whatever of the group has lost its parent meanwhile is a child of this process.
  bool has_ended() {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(group_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
      return false;
    }
    if (!mutant::removed("lock_group")) {
      ::kill(-group_, SIGKILL);
      while (waitpid(-group_, nullptr, 0) > 0 || errno == EINTR) {
      }
    }
    report(Report::Kind::kEnded, shell_code(info));
    return true;
  }

  void report(Report::Kind kind, int number) const {
    const Report report{kind, number};
    // Nobody may read it any more.
    if (::write(reports_, &report, sizeof report) < 0) return;
  }

  const std::vector<std::string>& words_;
  int orders_;
  int reports_;
  UniqueFd children_;
  pid_t group_ = -1;
  Until until_;
  bool termed_ = false;
  bool killed_ = false;
};

int GuardedCommand::guard(const std::vector<std::string>& words, int orders, int reports) {
  setpgid(0, 0);  // what a terminal sends to the group of this program is passed on, or is not
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  reset_signals();
  std::signal(SIGPIPE, SIG_IGN);
  return Guardian(words, orders, reports).run();
}

GuardedCommand::GuardedCommand(const std::vector<std::string>& words) {
  UniqueFd orders;
  UniqueFd reports;
  pipe_or_throw(orders, orders_);
  pipe_or_throw(reports_, reports);
  const pid_t parent = getpid();
  guardian_ = fork();
  if (guardian_ < 0) throw Error(std::string("fork: ") + std::strerror(errno));
  if (guardian_ == 0) {
    // It wakes one that was stopped, so that it reads the end of the pipe.
    prctl(PR_SET_PDEATHSIG, SIGCONT);
    if (getppid() != parent) _exit(0);
    orders_.reset();
    reports_.reset();
    _exit(guard(words, orders.get(), reports.get()));
  }
  fcntl(orders_.get(), F_SETFL, O_NONBLOCK);  // a stopped guardian holds up nobody
  prctl(PR_SET_CHILD_SUBREAPER, 1);           // for what is left when the guardian is killed
}

GuardedCommand::~GuardedCommand() {
  orders_.reset();
  if (group_ > 0 && !exit_code_) end_group();
  if (guardian_ < 0) return;
  ::kill(guardian_, SIGCONT);
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
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

// A guardian that is killed leaves its children to this process, which is a subreaper, too.
void GuardedCommand::end_group() {
  if (exit_code_) return;
  if (group_ > 0) ::kill(-group_, SIGKILL);
  ::kill(guardian_, SIGKILL);
  while (waitpid(guardian_, nullptr, 0) < 0 && errno == EINTR) {
  }
  guardian_ = -1;
  if (group_ > 0) ::kill(-group_, SIGKILL);
  while (group_ > 0 && (waitpid(-group_, nullptr, 0) > 0 || errno == EINTR)) {
  }
  exit_code_ = 128 + SIGKILL;
}

}  // namespace allot::cli
