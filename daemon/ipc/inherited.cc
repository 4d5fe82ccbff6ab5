// SPDX-License-Identifier: Apache-2.0
#include "ipc/inherited.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/posix.h"
#include "ipc/slot.h"

namespace allot::ipc {
namespace {

bool passed_on[kLockFd + 1];  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void note_inherited() {
  for (int fd = kSlotFd; fd <= kLockFd; ++fd) passed_on[fd] = set_cloexec(fd, true);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (int fd = kSlotFd; fd <= kLockFd; ++fd) {
    if (!passed_on[fd]) dup3(nothing, fd, O_CLOEXEC);
  }
  if (nothing < kSlotFd || nothing > kLockFd) close(nothing);
}

bool inherited(int fd) {
  return fd >= kSlotFd && fd <= kLockFd && passed_on[fd];
}

}  // namespace allot::ipc
