// SPDX-License-Identifier: Apache-2.0
#include "worker/job/usage.h"

#include <sys/resource.h>

#include <algorithm>

namespace allot::worker {
namespace {

std::uint64_t us_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(time.tv_usec);
}

rusage usage(int who) {
  rusage used{};
  (void)getrusage(who, &used);
  return used;
}

// CPU time of this process and of children that it has waited for, because a handler may start
// programs. With other handlers at the same time, only the time of this thread is known to be its
// own. This runs for each task, and for a process with many threads the kernel sums up all of them.
std::uint64_t cpu_us(bool of_thread) {
  if (of_thread) return clock_ns(CLOCK_THREAD_CPUTIME_ID) / kMicro;
  const rusage children = usage(RUSAGE_CHILDREN);
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID) / kMicro + us_of(children.ru_utime) +
         us_of(children.ru_stime);
}

std::uint64_t max_rss_kib() {
  return static_cast<std::uint64_t>(
      std::max(usage(RUSAGE_SELF).ru_maxrss, usage(RUSAGE_CHILDREN).ru_maxrss));
}

}  // namespace

UsageMeter::UsageMeter(bool of_thread) : of_thread_(of_thread), cpu_us_(cpu_us(of_thread)) {}

queue::Usage UsageMeter::until_now(Nanos started_ns) const {
  return {(boot_ns() - started_ns) / kMicro, cpu_us(of_thread_) - cpu_us_, max_rss_kib()};
}

}  // namespace allot::worker
