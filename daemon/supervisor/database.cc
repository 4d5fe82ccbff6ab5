// SPDX-License-Identifier: Apache-2.0
#include "supervisor/database.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/exit_codes.h"
#include "supervisor/log.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {

void Database::tick(Nanos now, int death_fd, int lock_fd, Nanos& wake_at) {
  if (!used() || pid_ > 0 || stopping_) return;
  if (!pause_.due(now)) {
    wake_at = std::min(wake_at, pause_.not_before());
    return;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return pause_.failed(now);
  ready_fd_.reset(high_fd(ends[0]));
  const UniqueFd write_end(high_fd(ends[1]));
  const UniqueFd program = open_program("allot-embedded");
  SpawnRequest request;
  request.program_fd = program.get();
  request.death_fd = death_fd;
  request.answer_fd = write_end.get();
  request.lock_fd = lock_fd;
  request.add({"allot-embedded", folder_, "--supervised"});
  pid_ = spawn(request);
  if (pid_ < 0) return pause_.failed(now);
  log_event(kInfo, "database.start", "pid=%d folder=%s", pid_, Quoted(folder_).c_str());
}

bool Database::ready() {
  if (!used() || ready_) return true;
  char line = 0;
  if (!ready_fd_.valid() || read(ready_fd_.get(), &line, 1) != 1) return false;
  ready_ = true;
  pause_.reset();
  log_event(kInfo, "database.ready", "pid=%d", pid_);
  return true;
}

bool Database::reaped(pid_t pid, int wait_status, Nanos now) {
  if (pid != pid_) return false;
  pid_ = -1;
  ready_ = false;
  ready_fd_.reset();  // its end of file would wake the loop for ever
  const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
  if (code == kExitConfig || code == kExitCannotCreate) hopeless_ = code;
  if (!stopping_) pause_.failed(now);
  log_event(stopping_ ? kInfo : kError, stopping_ ? "database.stopped" : "database.died",
            "pid=%d status=0x%x", pid, static_cast<unsigned>(wait_status));
  return true;
}

void Database::stop() {
  stopping_ = true;
  if (pid_ > 0) ::kill(pid_, SIGTERM);
}

void Database::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

}  // namespace allot::supervisor
