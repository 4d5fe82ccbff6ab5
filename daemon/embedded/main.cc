// SPDX-License-Identifier: Apache-2.0
// allot-embedded DIR runs a private MariaDB in DIR (S28). allotd starts it before everything else
// and stops it last; started by hand it stays in the foreground until TERM or INT.
// Rule: S72.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "base/version.h"
#include "embedded/server.h"
#include "ipc/slot.h"
#include "peer/inherited.h"
#include "trust/trust.h"

namespace allot::embedded {
namespace {

constexpr Nanos kStartPatience = 55 * kSecond;
constexpr Nanos kStopPatience = 25 * kSecond;

// Shutdown must not wait for a reader of standard error.
void say(const std::string& text) {
  const std::string line = "allot-embedded: " + text + "\n";
  (void)write_now(STDERR_FILENO, line.data(), line.size());
}

// The server and the two reasons to end it: a signal, or the end of the supervisor.
class Keeper {
 public:
  Keeper(const std::string& folder, bool binary_log) : server_(folder, binary_log) {
    sigset_t mask;
    sigemptyset(&mask);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&mask, number);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
    signals_.reset(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    death_fd_ = peer::inherited(ipc::kDeathFd) ? ipc::kDeathFd : -1;
  }

  int run() {
    server_.initialise();
    pid_ = server_.start();
    if (!wait_until_it_answers()) return stop() ? kExitOk : kExitFailure;
    server_.prepare();
    if (peer::inherited(ipc::kAnswerFd)) write_all(ipc::kAnswerFd, "\n", 1);
    while (!asked_to_stop(-1)) {
      if (gone()) {
        say("mariadbd ended by itself; see " + server_.error_log());
        return kExitFailure;
      }
    }
    stop();
    return kExitOk;
  }

  // An exception during the start also ends the server.
  ~Keeper() { stop(); }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

 private:
  bool wait_until_it_answers() {
    const Nanos deadline = mono_ns() + kStartPatience;
    while (!server_.answers()) {
      if (gone() || mono_ns() > deadline) {
        throw Error("embedded database: mariadbd did not start; see " + server_.error_log());
      }
      if (asked_to_stop(20)) return false;
    }
    return true;
  }

  // Waits for a signal or the supervisor's end, for at most `timeout_ms` (-1: without limit).
  bool asked_to_stop(int timeout_ms) {
    pollfd watched[] = {{signals_.get(), POLLIN, 0}, {death_fd_, POLLIN, 0}};
    poll(watched, 2, timeout_ms);
    bool stop = watched[1].revents != 0;
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      stop = stop || info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
    }
    return stop;
  }

  bool gone() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }

  // Shuts the server down, by force if it does not stop. True if the shutdown was orderly.
  bool stop() {
    if (gone()) return true;
    kill(pid_, SIGTERM);
    const Nanos deadline = mono_ns() + kStopPatience;
    while (!gone() && mono_ns() < deadline) asked_to_stop(50);
    if (gone()) return true;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    return false;
  }

  Server server_;
  UniqueFd signals_;
  int death_fd_ = -1;
  pid_t pid_ = -1;
};

constexpr char kUsage[] =
    "usage: allot-embedded DIR [--supervised | --binary-log]\n"
    "  DIR             the folder of the database, an absolute path\n"
    "  --supervised    by allotd: it has opened the descriptors of its children\n"
    "  --binary-log    write a row-based binary log, for benchmarks\n"
    "  --version, --help\n"
    "signals: TERM, INT stop the server in order\n";

// The lock is held until exit, because two servers on one data folder would destroy it.
UniqueFd lock(const std::string& folder) {
  trust::make_folder(folder, trust::Role::kPrivateFolder, "[database] embedded");
  UniqueFd file(open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) {
    throw Error("embedded database: " + folder + "/lock: " + std::strerror(errno),
                kExitCannotCreate);
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error("embedded database: " + folder + " is in use by another allot-embedded",
                kExitFailure);
  }
  return file;
}

int keep(const std::string& folder, bool binary_log) {
  const UniqueFd locked = lock(folder);
  return Keeper(folder, binary_log).run();
}

}  // namespace
}  // namespace allot::embedded

int main(int argc, char** argv) {
  using namespace allot;
  peer::note_inherited();
  // The supervisor passes its own options, which come from the configuration.
  const bool supervised = argc >= 3 && std::strcmp(argv[2], "--supervised") == 0;
  if (!supervised) peer::forget_inherited();
  const bool binary_log = argc == 3 && std::strcmp(argv[2], "--binary-log") == 0;
  const std::string argument = argc == 2 || supervised || binary_log ? argv[1] : "";
  if (argument == "--version") {
    std::printf("%s\n", kVersionMark);
    return kExitOk;
  }
  if (argument.empty() || argument[0] != '/') {
    const bool asked = argument == "--help";
    std::fputs(embedded::kUsage, asked ? stdout : stderr);
    return asked ? kExitOk : kExitUsage;
  }
  try {
    return embedded::keep(argument, binary_log);
  } catch (const Error& error) {
    embedded::say(error.what());
    return error.exit_code();
  } catch (const std::exception& error) {
    embedded::say(error.what());
    return kExitFailure;
  }
}
