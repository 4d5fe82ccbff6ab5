// SPDX-License-Identifier: Apache-2.0
#include "worker/block/careful_turn.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "process/stop_request.h"
#include "worker/run/run.h"

namespace allot::worker {
namespace {

constexpr std::chrono::milliseconds kRetryEvery{10};

}  // namespace

CarefulTurn::CarefulTurn(const std::string& path) {
  if (path.empty()) return;
  file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640));
  if (!file_.valid()) {
    throw Error(path + ": cannot be opened: " + std::strerror(errno), kExitCannotCreate);
  }
}

bool CarefulTurn::take(std::chrono::milliseconds patience) {
  const Nanos until = mono_ns() + in_nanos(patience);
  while (file_.valid() && flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (mono_ns() >= until || process::wait_asked(kRetryEvery)) return false;
  }
  return true;
}

void CarefulTurn::end() {
  if (file_.valid()) flock(file_.get(), LOCK_UN);
}

}  // namespace allot::worker
