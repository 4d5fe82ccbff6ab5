// SPDX-License-Identifier: Apache-2.0
//
// Handlers with which tests provoke and observe a worker.
//   [plugins.probe]
//   output = "FILE"    where test.write appends its payloads, one line each
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <allot/plugin.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

class Ok : public allot::Handler {
 public:
  allot::Outcome run(allot::Context&) override { return allot::success(); }
};

class Fail : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    return allot::fail(std::string(ctx.payload()));
  }
};

class Retry : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    return allot::retry(std::string(ctx.payload()));
  }
};

// Fails each time, at once.
class Lost : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    return allot::retry("attempt " + std::to_string(ctx.attempt()), std::chrono::seconds(0));
  }
};

class Throw : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    throw std::runtime_error(std::string(ctx.payload()));
  }
};

// payload: milliseconds; the second time it is done.
class Snooze : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    if (!seen_.insert(std::string(ctx.id())).second) return allot::success();
    const int delay = std::atoi(std::string(ctx.payload()).c_str());
    return allot::snooze(std::chrono::milliseconds(delay), "not now");
  }

 private:
  std::set<std::string> seen_;
};

// As a handler whose program is missing.
class NotStarted : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& /*ctx*/) override {
    return allot::not_started("no such program", std::chrono::milliseconds(0));
  }
};

// The second time it is done, or fails with the number of its attempt when the payload is "fail".
class Release : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    if (seen_.insert(std::string(ctx.id())).second) return allot::release("not here");
    if (ctx.payload() != "fail") return allot::success();
    return allot::fail("attempt " + std::to_string(ctx.attempt()));
  }

 private:
  std::set<std::string> seen_;
};

// payload: snooze or release. Does that once in each process, and then crashes.
class Slip : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    if (!seen_.insert(std::string(ctx.id())).second) std::abort();
    return ctx.payload() == "snooze" ? allot::snooze(std::chrono::milliseconds(0))
                                     : allot::release();
  }

 private:
  std::set<std::string> seen_;
};

// Each attempt ends in another way; the fifth one does not end by itself.
class Misfortune : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    switch (ctx.attempt()) {
      case 1:
        return allot::retry("busy");
      case 2:
        throw std::runtime_error("out of luck");
      case 3:
        ::signal(SIGSEGV, SIG_DFL);  // as in Crash
        ::raise(SIGSEGV);
        break;
      case 4:
        ::_exit(3);
      case 5:
        for (;;) ::poll(nullptr, 0, 1'000);
      default:
        break;
    }
    return allot::fail("that was enough");
  }
};

// payload: "VERDICT FILE". Waits until FILE exists, or the file of this attempt ("FILE.1" for the
// first), and says VERDICT.
class Gate : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const std::string payload(ctx.payload());
    const std::size_t space = payload.find(' ');
    const std::string verdict = payload.substr(0, space);
    const std::string file = payload.substr(space + 1);
    const std::string own = file + "." + std::to_string(ctx.attempt());
    while (::access(file.c_str(), F_OK) != 0 && ::access(own.c_str(), F_OK) != 0) {
      ::poll(nullptr, 0, 5);
    }
    if (verdict == "crash") ::raise(SIGKILL);
    if (verdict == "retry") return allot::retry("later", std::chrono::milliseconds(0));
    if (verdict == "fail") return allot::fail("never");
    if (verdict == "snooze") return allot::snooze(std::chrono::milliseconds(0));
    if (verdict == "hibernate") return allot::snooze(std::chrono::hours(1));
    if (verdict == "release") return allot::release();
    if (verdict == "throw") throw std::runtime_error("thrown");
    if (verdict == "checkpoint") ctx.checkpoint("late");
    if (verdict == "effect") ctx.transaction().execute("SELECT 1");
    if (verdict == "effect" || verdict == "replace") ctx.replace_with({{.type = "unknown.type"}});
    return allot::success();
  }
};

// Says which trace it got.
class Heard : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    ctx.info("heard " + std::string(ctx.traceparent()) + " " + std::string(ctx.tracestate()));
    return allot::success();
  }
};

// payload: FILE. Says which trace it got. Two attempts are tried again, the next one waits until
// FILE is there. Once it is, the first attempt submits a task, and the others want to be tried
// again.
class Traced : public Heard {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    (void)Heard::run(ctx);
    const std::string file(ctx.payload());
    if (ctx.attempt() == 1 && ::access(file.c_str(), F_OK) == 0) {
      (void)ctx.submit({.type = "test.heard", .max_attempts = 2});
      return allot::success();
    }
    while (ctx.attempt() > 2 && ::access(file.c_str(), F_OK) != 0) ::poll(nullptr, 0, 5);
    return allot::retry("again", std::chrono::milliseconds(0));
  }
};

class ThrowInt : public allot::Handler {
 public:
  allot::Outcome run(allot::Context&) override { throw 42; }
};

// payload: abort, segv, kill, or exit (with status 0).
class Crash : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.payload() == "abort") std::abort();
    if (ctx.payload() == "segv") {
      ::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would turn it into an exit
      ::raise(SIGSEGV);
    }
    if (ctx.payload() == "kill") ::raise(SIGKILL);
    ::_exit(0);
  }
};

// payload: milliseconds; ends early with a retry when asked to stop.
class Sleep : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    int left = std::atoi(std::string(ctx.payload()).c_str());
    for (; left > 0; left -= 10) {
      if (ctx.stop_requested()) return allot::retry("asked to stop", std::chrono::seconds(0));
      ::poll(nullptr, 0, 10);
    }
    return allot::success();
  }
};

// payload: milliseconds, or a fifo in which a byte wakes it; fails when a signal interrupts it.
class Nap : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const std::string payload(ctx.payload());
    const bool fifo = payload.starts_with("/");
    const int fd = fifo ? ::open(payload.c_str(), O_RDWR | O_CLOEXEC) : -1;
    pollfd wakes{fd, POLLIN, 0};
    const int woken = ::poll(&wakes, fifo ? 1 : 0, fifo ? -1 : std::atoi(payload.c_str()));
    if (fifo) ::close(fd);
    return woken == (fifo ? 1 : 0) ? allot::success() : allot::fail("interrupted");
  }
};

// payload: milliseconds; does not look, and ends by itself.
class Stay : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    for (int left = std::atoi(std::string(ctx.payload()).c_str()); left > 0; left -= 10) {
      ::poll(nullptr, 0, 10);
    }
    return allot::success();
  }
};

// Prints its payload to where a library would.
class Print : public allot::Handler {
 public:
  allot::Outcome run(allot::Context& ctx) override {
    const std::string line = std::string(ctx.payload()) + "\n";
    const auto size = static_cast<ssize_t>(line.size());
    return ::write(STDERR_FILENO, line.data(), line.size()) == size ? allot::success()
                                                                    : allot::fail("not printed");
  }
};

// Never ends and never asks whether to stop.
class Spin : public allot::Handler {
 public:
  allot::Outcome run(allot::Context&) override {
    for (volatile bool go_on = true; go_on;) {
    }
    return allot::success();
  }
};

void append_line(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const std::string line = std::string(text) + "\n";
  if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("cannot write to " + path);
  }
  ::close(fd);
}

class Write : public allot::Handler {
 public:
  explicit Write(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    append_line(output_, ctx.payload());
    return allot::success();
  }

 private:
  std::string output_;
};

// Writes its payload, then sleeps without asking whether to stop: a task that is caught in the
// middle.
class WriteAndSleep : public allot::Handler {
 public:
  explicit WriteAndSleep(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    append_line(output_, std::string(ctx.payload()) + " attempt " + std::to_string(ctx.attempt()));
    for (int naps = 0; ctx.attempt() == 1 && naps < 600; ++naps) {
      ::poll(nullptr, 0, 1'000);  // a signal, such as TERM of a supervisor that died, ends only one
    }
    return allot::success();
  }

 private:
  std::string output_;
};

// payload: NAME MILLISECONDS. Sleeps without asking whether to stop and writes "NAME done"; writes
// "NAME overlaps" when the same NAME runs elsewhere at the same time, by a lock that dies with its
// process.
class Alone : public allot::Handler {
 public:
  explicit Alone(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    const std::string payload(ctx.payload());
    const std::size_t space = payload.find(' ');
    const std::string name = payload.substr(0, space);
    const int fd = ::open((output_ + "." + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) append_line(output_, name + " overlaps");
    ::poll(nullptr, 0, std::atoi(payload.c_str() + space + 1));
    append_line(output_, name + " done");
    ::close(fd);
    return allot::success();
  }

 private:
  std::string output_;
};

// Starts a process in a session of its own, writes its pid, and hangs.
class Stray : public allot::Handler {
 public:
  explicit Stray(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.attempt() > 1) return allot::success();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setsid();
      ::poll(nullptr, 0, 600'000);
      ::_exit(0);
    }
    append_line(output_, std::to_string(pid));
    ::poll(nullptr, 0, 600'000);
    return allot::success();
  }

 private:
  std::string output_;
};

// Appends its payload, then takes 10 ms: work that is under way when something happens.
class Pace : public allot::Handler {
 public:
  explicit Pace(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    append_line(output_, ctx.payload());
    ::poll(nullptr, 0, 10);
    return allot::success();
  }

 private:
  std::string output_;
};

// The same, but several may run in parallel.
class PaceBeside : public Pace {
 public:
  using Pace::Pace;
  static constexpr bool kConcurrent = true;
};
// The same with several in one call, where payloads that end in 7 need two attempts.
class PaceMany : public Pace {
 public:
  using Pace::Pace;
  static constexpr std::size_t kMaxBatch = 5;
  allot::Outcome run(allot::Context& ctx) override {
    allot::Outcome outcome = Pace::run(ctx);
    if (ctx.attempt() > 1 || !ctx.payload().ends_with('7')) return outcome;
    return allot::retry("once more", std::chrono::seconds(0));
  }
  std::vector<allot::Outcome> run_many(std::span<allot::Context> tasks) override {
    std::vector<allot::Outcome> outcomes;
    for (allot::Context& ctx : tasks) outcomes.push_back(run(ctx));
    return outcomes;
  }
};

// Appends when it starts, in microseconds since 1970, then takes as many milliseconds as its
// payload says, or 50.
class Stamp : public allot::Handler {
 public:
  explicit Stamp(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    append_line(output_,
                std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
    const std::string payload(ctx.payload());
    ::poll(nullptr, 0, payload.empty() ? 50 : std::atoi(payload.c_str()));
    return allot::success();
  }

 private:
  std::string output_;
};

// The same, but several may run in parallel.
class StampBeside : public Stamp {
 public:
  using Stamp::Stamp;
  static constexpr bool kConcurrent = true;
};

// First, after a second, a retry with a long reason; then done.
class Bloat : public allot::Handler {
 public:
  explicit Bloat(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.attempt() == 1) {
      ::poll(nullptr, 0, 1'000);
      return allot::retry(std::string(60'000, 'x'));
    }
    append_line(output_, ctx.payload());
    return allot::success();
  }

 protected:
  std::string output_;
};

// The same, but it waits until a file with the output's name and ".go" exists.
class BloatOnGo : public Bloat {
 public:
  using Bloat::Bloat;
  allot::Outcome run(allot::Context& ctx) override {
    while (::access((output_ + ".go").c_str(), F_OK) != 0) ::poll(nullptr, 0, 5);
    return Bloat::run(ctx);
  }
};

// Promises progress. payload: milliseconds for which it keeps the promise; then it hangs, or is
// done when it is tried again.
class Promise : public allot::Handler {
 public:
  static constexpr std::chrono::seconds kProgressEvery{6};
  allot::Outcome run(allot::Context& ctx) override {
    for (int left = std::atoi(std::string(ctx.payload()).c_str()); left > 0; left -= 100) {
      ::poll(nullptr, 0, 100);
      ctx.heartbeat();
    }
    if (ctx.attempt() == 1) ::poll(nullptr, 0, 600'000);
    return allot::success();
  }
};

// Starts a process in a session of its own, which ignores signals as well, writes its pid and
// hangs: only SIGKILL ends it.
class Deaf : public allot::Handler {
 public:
  explicit Deaf(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.attempt() > 1) return allot::success();
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setsid();
      ::poll(nullptr, 0, 600'000);
      ::_exit(0);
    }
    append_line(output_, std::to_string(pid));
    for (volatile bool go_on = true; go_on;) {
    }
    return allot::success();
  }

 private:
  std::string output_;
};

// payload: GROUP GROUP VERB. Starts a process where the supervisor does not look: in the one of the
// two process groups which belongs to another worker (0: in a session of its own); the process
// adopts the orphans below it, and has a child in a session of its own. Writes the pids of worker,
// process and child. VERB: hang or leave. The second attempt is done.
class Burrow : public allot::Handler {
 public:
  explicit Burrow(const allot::Config& config) : output_(config.get("output")) {}
  allot::Outcome run(allot::Context& ctx) override {
    if (ctx.attempt() > 1) return allot::success();
    std::istringstream words{std::string(ctx.payload())};
    pid_t group = 0;
    pid_t other = 0;
    std::string verb;
    words >> group >> other >> verb;
    if (group == ::getpgrp()) group = other;
    append_line(output_, std::to_string(::getpid()));
    if (::fork() == 0) dig(group);
    if (verb == "hang") ::poll(nullptr, 0, 600'000);
    return allot::success();
  }

 private:
  [[noreturn]] void dig(pid_t group) const {
    if (group == 0 ? ::setsid() < 0 : ::setpgid(0, group) != 0) ::_exit(1);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::close_range(3, ~0U, 0);  // as exec would: they must not hold the instance's lock
    const pid_t child = ::fork();
    if (child == 0) {
      ::setsid();
      ::poll(nullptr, 0, 600'000);
      ::_exit(0);
    }
    try {
      append_line(output_, std::to_string(::getpid()) + "\n" + std::to_string(child));
      ::poll(nullptr, 0, 600'000);
    } catch (...) {  // not into the worker's code a second time
    }
    ::_exit(0);
  }

  std::string output_;
};

ALLOT_HANDLER("test.burrow", Burrow)
ALLOT_HANDLER("test.pace", Pace)
ALLOT_HANDLER("test.pace_beside", PaceBeside)
ALLOT_HANDLER("test.pace_many", PaceMany)
ALLOT_HANDLER("test.stamp", Stamp)
ALLOT_HANDLER("test.stamp_beside", StampBeside)
ALLOT_HANDLER("test.bloat", Bloat)
ALLOT_HANDLER("test.bloat_on_go", BloatOnGo)
ALLOT_HANDLER("test.promise", Promise)
ALLOT_HANDLER("test.deaf", Deaf)
ALLOT_HANDLER("test.stray", Stray)
ALLOT_HANDLER("test.alone", Alone)
ALLOT_HANDLER("test.ok", Ok)
ALLOT_HANDLER("test.ok.*", Ok)
ALLOT_HANDLER("test.fail", Fail)
ALLOT_HANDLER("test.retry", Retry)
ALLOT_HANDLER("test.lost", Lost)
ALLOT_HANDLER("test.snooze", Snooze)
ALLOT_HANDLER("test.release", Release)
ALLOT_HANDLER("test.not_started", NotStarted)
ALLOT_HANDLER("test.slip", Slip)
ALLOT_HANDLER("test.misfortune", Misfortune)
ALLOT_HANDLER("test.gate", Gate)
ALLOT_HANDLER("test.heard", Heard)
ALLOT_HANDLER("test.traced", Traced)
ALLOT_HANDLER("test.throw", Throw)
ALLOT_HANDLER("test.throw_int", ThrowInt)
ALLOT_HANDLER("test.crash", Crash)
ALLOT_HANDLER("test.sleep", Sleep)
ALLOT_HANDLER("test.nap", Nap)
ALLOT_HANDLER("test.stay", Stay)
ALLOT_HANDLER("test.print", Print)
ALLOT_HANDLER("test.spin", Spin)
ALLOT_HANDLER("test.write", Write)
ALLOT_HANDLER("test.hang_once", WriteAndSleep)
ALLOT_HANDLER("test.hang_once.*", WriteAndSleep)

}  // namespace
