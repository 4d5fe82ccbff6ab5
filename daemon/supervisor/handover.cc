// SPDX-License-Identifier: Apache-2.0
#include "supervisor/handover.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "base/posix.h"
#include "ipc/slot.h"
#include "supervisor/log.h"

namespace allot::supervisor {
namespace {

constexpr int kStateVersion = 4;

}  // namespace

Handover::Handover(int fd, Way way)
    : fd_(fd), reading_(way == Way::kRead), good_(lseek(fd, 0, SEEK_SET) == 0) {
  std::snprintf(ours_, sizeof ours_, "handover %d, %u slots %u of %zu bytes", kStateVersion,
                ipc::kMaxSlots, ipc::kSlotVersion, sizeof(ipc::Slot));
  std::memcpy(theirs_, ours_, sizeof ours_);
  one(theirs_);
}

void Handover::one(UniqueFd& fd) {
  int number = fd.get();
  one(number);
  if (reading_) fd.reset(number);
  if (number >= 0) fcntl(number, F_SETFD, reading_ ? FD_CLOEXEC : 0);
}

void Handover::bytes(void* data, std::size_t size) {
  good_ = good_ && (reading_ ? read_exact(fd_, data, size) : write_all(fd_, data, size));
}

bool Handover::whole() const {
  char more = 0;
  if (good_ && std::memcmp(ours_, theirs_, sizeof ours_) == 0 &&
      (!reading_ || read(fd_, &more, 1) == 0)) {
    return true;
  }
  log_event(kError, "upgrade.refused", "running=%s new=%s fix=\"stop and start it\"",
            Quoted::of(theirs_).c_str(), Quoted(ours_).c_str());
  return false;
}

}  // namespace allot::supervisor
