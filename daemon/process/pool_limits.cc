// SPDX-License-Identifier: Apache-2.0
#include "process/pool_limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace allot::process {
namespace {

[[noreturn]] void refuse(const config::Pool& pool, const std::string& key) {
  throw Error("[pools." + pool.name + "] " + key + " cannot be set: " + std::strerror(errno),
              kExitConfig);
}

void be_nice(const config::Pool& pool) {
  errno = 0;
  const int now = ::getpriority(PRIO_PROCESS, 0);
  if (errno != 0) refuse(pool, "nice");
  // On Linux this applies to the calling thread only.
  if (::setpriority(PRIO_PROCESS, 0, now + static_cast<int>(pool.nice)) != 0) refuse(pool, "nice");
}

// Not RLIMIT_AS: libraries reserve addresses that they never use.
void limit_memory(const config::Pool& pool) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) refuse(pool, "memory_limit");
  const rlim_t wanted = rlim_t{pool.memory_limit} << 20U;
  limit.rlim_max = std::min(limit.rlim_max, wanted);
  limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) refuse(pool, "memory_limit");
}

}  // namespace

void limit_to(const config::Pool& pool) {
  if (pool.nice > 0) be_nice(pool);
  if (pool.memory_limit > 0) limit_memory(pool);
}

}  // namespace allot::process
