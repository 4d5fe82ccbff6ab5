// SPDX-License-Identifier: Apache-2.0
#include "peer/inherited.h"

#include <fcntl.h>
#include <unistd.h>

#include "ipc/slot.h"

namespace allot::peer {
namespace {

bool passed_on[ipc::kLastFd + 1];  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void note_inherited() {
  for (int fd = ipc::kSlotFd; fd <= ipc::kLastFd; ++fd)
    passed_on[fd] = fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (int fd = ipc::kSlotFd; fd <= ipc::kLastFd; ++fd) {
    if (!passed_on[fd]) dup3(nothing, fd, O_CLOEXEC);
  }
  if (nothing < ipc::kSlotFd || nothing > ipc::kLastFd) close(nothing);
}

void forget_inherited() {
  for (bool& passed : passed_on) passed = false;
}

bool inherited(int fd) {
  return fd >= ipc::kSlotFd && fd <= ipc::kLastFd && passed_on[fd];
}

}  // namespace allot::peer
