// SPDX-License-Identifier: Apache-2.0
#include "peer/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace allot::peer {
namespace {

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void wake_sleepers(std::atomic<std::uint32_t>& word, std::size_t count) {
  futex(word, FUTEX_WAKE, static_cast<std::uint32_t>(std::min<std::size_t>(count, INT_MAX)),
        nullptr);
}

void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, Nanos timeout) {
  const timespec time{static_cast<time_t>(timeout / kSecond), static_cast<long>(timeout % kSecond)};
  futex(word, FUTEX_WAIT, seen, &time);
}

}  // namespace allot::peer
