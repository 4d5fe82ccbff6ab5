// SPDX-License-Identifier: Apache-2.0
#include "peer/lock_mark.h"

#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ipc/slot.h"

namespace allot::peer {
namespace {

constexpr int kSize = 17;  // 16 digits and the end of the line

}  // namespace

std::uint64_t lock_mark(int fd) {
  char text[kSize + 1] = {};
  if (pread(fd, text, kSize, ipc::kLockPidSize) != kSize) return 0;
  return std::strtoull(text, nullptr, 16);
}

std::uint64_t draw_lock_mark(int fd) {
  std::uint64_t mark = lock_mark(fd);
  if (mark != 0) return mark;
  while (mark == 0) (void)!getrandom(&mark, sizeof mark, 0);
  char text[kSize + 1];
  std::snprintf(text, sizeof text, "%016llx\n", static_cast<unsigned long long>(mark));
  return pwrite(fd, text, kSize, ipc::kLockPidSize) == kSize ? mark : 0;
}

}  // namespace allot::peer
