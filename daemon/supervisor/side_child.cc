// SPDX-License-Identifier: Apache-2.0
#include "supervisor/side_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/exit_codes.h"
#include "base/mutant.h"
#include "supervisor/log.h"

namespace allot::supervisor {
namespace {

struct Event {
  Event(const char* name, const char* what) {
    std::snprintf(text, sizeof text, "%s.%s", name, what);
  }
  char text[32] = {};
};

}  // namespace

void SideChild::use(bool used) {
  used_ = used;
  if (!used) tell(SIGTERM);
}

void SideChild::tick(Nanos now, SpawnRequest request, Nanos& wake_at) {
  char line = 0;
  if (ready_fd() >= 0 && read(ready_fd(), &line, 1) == 1) {
    ready_ = true;
    backoff_.reset();
    log_event(kInfo, Event(name_, "ready").text, "pid=%d", pid_);
  }
  if (!used_ || pid_ > 0) return;
  if (!backoff_.due(now)) {
    wake_at = std::min(wake_at, backoff_.not_before());
    return;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return backoff_.failed(now);
  ready_fd_.reset(high_fd(ends[0]));
  const UniqueFd write_end(high_fd(ends[1]));
  const UniqueFd program = open_program(request.arguments[0]);
  request.program_fd = program.get();
  request.answer_fd = write_end.get();
  pid_ = spawn(request);
  if (pid_ < 0) return backoff_.failed(now);
  log_event(kInfo, Event(name_, "start").text, "pid=%d", pid_);
}

bool SideChild::reaped(pid_t pid, int wait_status, Nanos now) {
  if (pid != pid_) return false;
  pid_ = -1;
  ready_ = false;
  ready_fd_.reset();  // its end of file would keep waking the loop
  const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
  if (code == kExitConfig || code == kExitCannotCreate) hopeless_ = code;
  if (used_) backoff_.failed(mutant::removed("side_child_restart") ? now + 3600 * kSecond : now);
  log_event(used_ ? kError : kInfo, Event(name_, used_ ? "died" : "stopped").text,
            "pid=%d status=0x%x", pid, static_cast<unsigned>(wait_status));
  return true;
}

void SideChild::tell(int signal, int number) const {
  if (pid_ > 0) sigqueue(pid_, signal, {.sival_int = number});
}

}  // namespace allot::supervisor
