// SPDX-License-Identifier: Apache-2.0
#include "supervisor/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/exit_codes.h"
#include "ipc/slot.h"
#include "supervisor/log.h"

namespace allot::supervisor {
namespace {

// Only async-signal-safe calls from here to exec, although this process has no other thread.
[[noreturn]] void become(const SpawnRequest& request, pid_t parent) {
  setpgid(0, 0);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  // Only workers get this descriptor. Signals to a worker that has no handlers yet wait (S21): it
  // keeps the mask of the supervisor, which itself reads these signals from a descriptor.
  if (request.notify_fd < 0) sigprocmask(SIG_SETMASK, &none, nullptr);
  if (request.dies_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(kExitFailure);  // it died before prctl
  }
  const int placed[][2] = {{request.slot_fd, ipc::kSlotFd},     {request.death_fd, ipc::kDeathFd},
                           {request.notify_fd, ipc::kNotifyFd}, {request.board_fd, ipc::kBoardFd},
                           {request.answer_fd, ipc::kAnswerFd}, {request.lock_fd, ipc::kLockFd},
                           {request.config_fd, ipc::kConfigFd}};
  for (const auto& [from, to] : placed) {
    if (from < 0 || dup2(from, to) < 0) close(to);
  }
  close_range(ipc::kLastFd + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
  if (request.program_fd < 0) _exit(kExitConfig);  // open_program() logged the reason
  syscall(SYS_execveat, request.program_fd, "", request.arguments, environ, AT_EMPTY_PATH);
  log_event(kError, "program.not_started", "program=%s error=\"%s\"", request.arguments[0],
            std::strerror(errno));
  _exit(kExitConfig);
}

UniqueFd open_file(const char* folder, const char* between, const char* name,
                   char (&path)[PATH_MAX]) {
  std::snprintf(path, sizeof path, "%s%s%s", folder, between, name);
  return UniqueFd(high_fd(open(path, O_RDONLY | O_CLOEXEC)));
}

}  // namespace

int high_fd(int fd) {
  if (fd < 0 || fd >= kFirstOwnFd) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kFirstOwnFd);
  close(fd);
  return moved;
}

void SpawnRequest::add(std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (count_ < kMaxArguments - 1) arguments[count_++] = word;
  }
}

void SpawnRequest::add_options(const Options& options) {
  if (options.config != nullptr) add({"--config", options.config});
  if (options.embedded != nullptr) add({"--embedded", options.embedded});
}

pid_t spawn(const SpawnRequest& request) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(request, parent);
  if (pid > 0) setpgid(pid, pid);  // both do it, so that neither waits for the other
  return pid;
}

UniqueFd open_program(const char* name) {
  char folder[PATH_MAX - 64];
  const ssize_t size = readlink("/proc/self/exe", folder, sizeof folder - 1);
  if (size <= 0) return UniqueFd();
  folder[size] = '\0';
  *std::strrchr(folder, '/') = '\0';
  const char* chosen = *name == '/' ? "" : std::getenv("ALLOT_LIBEXEC");
  char path[PATH_MAX];
  UniqueFd program = open_file(chosen != nullptr ? chosen : folder, "/", name, path);
  if (!program.valid() && chosen == nullptr) {
    program = open_file(folder, "/../libexec/allot/", name, path);
  }
  if (!program.valid()) {
    log_event(kError, "program.missing", "path=%s error=\"%s\"", Quoted(path).c_str(),
              std::strerror(errno));
  }
  return program;
}

}  // namespace allot::supervisor
