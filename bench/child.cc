// SPDX-License-Identifier: Apache-2.0
#include "bench/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/error.h"

namespace allot::bench {
namespace {

void move_to(const std::string& host) {
  if (host.empty()) return;
  if (unshare(CLONE_NEWNET | CLONE_NEWUTS) == 0 && sethostname(host.data(), host.size()) == 0) {
    return;
  }
  dprintf(STDERR_FILENO, "no namespaces for another host: %s\n", std::strerror(errno));
  _exit(kExitSoftware);
}

[[noreturn]] void become(std::vector<char*>& arguments, const std::string& log_file,
                         const std::string& other_host, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kExitFailure);
  const int log = open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log >= 0) {
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);  // S21
  move_to(other_host);
  execv(arguments[0], arguments.data());
  dprintf(STDERR_FILENO, "%s: %s\n", arguments[0], std::strerror(errno));
  _exit(kExitSoftware);
}

}  // namespace

Child::Child(std::vector<std::string> command, const std::string& log_file,
             const std::string& other_host)
    : name_(command[0]), log_file_(log_file) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(arguments, log_file, other_host, parent);
  if (pid_ < 0) throw Error(name_ + " cannot be started: " + std::strerror(errno));
}

Child::~Child() {
  if (!running()) return;
  kill(pid_, SIGTERM);
  reap(0);
}

bool Child::running() {
  if (pid_ > 0) reap(WNOHANG);
  return pid_ > 0;
}

void Child::stop() {
  if (running()) {
    kill(pid_, SIGTERM);
    reap(0);
  }
  judge();
}

void Child::finish() {
  if (running()) reap(0);
  judge();
}

void Child::reap(int options) {
  pid_t ended = 0;
  do {
    ended = waitpid(pid_, &status_, options);
  } while (ended < 0 && errno == EINTR);
  if (ended != 0) pid_ = -1;
}

void Child::judge() const {
  if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return;
  throw Error(name_ +
              (WIFSIGNALED(status_)
                   ? " was ended by signal " + std::to_string(WTERMSIG(status_))
                   : " failed with exit code " + std::to_string(WEXITSTATUS(status_))) +
              "; see " + log_file_);
}

}  // namespace allot::bench
