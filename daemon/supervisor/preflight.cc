// SPDX-License-Identifier: Apache-2.0
#include "supervisor/preflight.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/posix.h"
#include "supervisor/log.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {
namespace {

constexpr Nanos kPatience = 30 * kSecond;

}  // namespace

bool Preflight::start(Step step, const Options& options, int state_fd, int lock_fd) {
  step_ = step;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  answer_.reset(high_fd(ends[0]));
  fcntl(answer_.get(), F_SETFL, O_NONBLOCK);  // a grandchild may keep it open forever
  const UniqueFd write_end(high_fd(ends[1]));
  const bool upgrade = step == Step::kUpgrade;
  const char* program = upgrade ? options.program : "allot-worker";
  if (step < Step::kDatabase) {
    checked_.program = open_program(program);
    checked_.config.reset(high_fd(memfd_create("allot-config", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  }
  SpawnRequest request;
  request.program_fd = checked_.program.get();
  request.config_fd = checked_.config.get();
  request.answer_fd = write_end.get();
  request.slot_fd = state_fd;
  request.lock_fd = lock_fd;
  request.dies_with_parent = true;
  const char* part = step == Step::kConfig ? "config" : "database";
  request.add({program, upgrade ? "--resume" : "--check", upgrade ? "check" : part});
  if (step == Step::kDatabaseAndReclaim) request.add({"--reclaim"});
  if (!upgrade) request.add({"--log-format", log_format_name()});  // else it is in the state
  request.add_options(options);
  pid_ = spawn(request);
  ended_ = false;
  deadline_ = mono_ns() + kPatience;
  return pid_ > 0;
}

void Preflight::enforce_deadline(Nanos now) {
  if (!running() || ended_ || now < deadline_) return;
  log_event(kError, "check.timeout", "pid=%d seconds=%d", pid_,
            static_cast<int>(kPatience / kSecond));
  end();
}

void Preflight::end() {
  if (!running()) return;
  ended_ = true;
  kill(-pid_, SIGKILL);
}

int Preflight::finish(int wait_status) {
  if (WIFSIGNALED(wait_status) && !ended_) {
    log_event(kError, "check.died", "signal=%d pid=%d", WTERMSIG(wait_status), pid_);
  }
  pid_ = -1;
  if (ended_ && step_ != Step::kConfig) return kExitUnavailable;
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kExitSoftware;
}

bool Preflight::read_answer(ipc::PreflightAnswer& answer) {
  return read_exact(answer_.get(), &answer, sizeof answer) &&
         answer.magic == ipc::kPreflightMagic && answer.version == ipc::kPreflightVersion &&
         answer.pool_count <= ipc::kMaxPools;
}

}  // namespace allot::supervisor
