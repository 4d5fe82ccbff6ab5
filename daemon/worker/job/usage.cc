// SPDX-License-Identifier: Apache-2.0
#include "worker/job/usage.h"

#include <sys/resource.h>

#include <algorithm>

namespace allot::worker {
namespace {

struct Total {
  std::uint64_t cpu_us = 0;
  std::uint64_t max_rss_kib = 0;
};

std::uint64_t us_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

// The usage of this process, and of children that it has waited for, because a handler may start
// programs. When others run beside it, only the time of this thread is known to be its own.
Total total(bool of_thread) {
  Total sum;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD}) {
    rusage used{};
    if (getrusage(who, &used) != 0) continue;
    if ((who == RUSAGE_THREAD) == of_thread)
      sum.cpu_us += us_of(used.ru_utime) + us_of(used.ru_stime);
    sum.max_rss_kib = std::max(sum.max_rss_kib, static_cast<std::uint64_t>(used.ru_maxrss));
  }
  return sum;
}

}  // namespace

UsageMeter::UsageMeter(bool of_thread) : of_thread_(of_thread), cpu_us_(total(of_thread).cpu_us) {}

queue::Usage UsageMeter::until_now(Nanos started_ns) const {
  const Total now = total(of_thread_);
  return {(boot_ns() - started_ns) / kMicro, now.cpu_us - cpu_us_, now.max_rss_kib};
}

}  // namespace allot::worker
