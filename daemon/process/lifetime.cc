// SPDX-License-Identifier: Apache-2.0
#include "process/lifetime.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "process/stop_request.h"

namespace allot::process {
namespace {

constexpr Nanos kSizeEvery = 100 * kMilli;

// At most a tenth less, so a limit below ten is unchanged.
std::uint64_t spread(std::uint64_t limit, std::uint64_t random) {
  const std::uint64_t tenth = limit / 10;
  const std::uint64_t part = random % 1000;
  return limit - tenth / 1000 * part - tenth % 1000 * part / 1000;
}

}  // namespace

Lifetime::Lifetime(const config::Pool& pool, std::uint64_t random)
    : pool_(pool),
      max_tasks_(spread(pool.max_tasks, random)),
      max_age_ns_(spread(in_nanos(pool.max_age), random)) {}

void Lifetime::check() {
  if (over_ != nullptr) return;
  over_ = reached();
  if (over_ != nullptr) ask(Asked::kRetire);
}

std::size_t Lifetime::room() const {
  if (max_tasks_ == 0) return std::numeric_limits<std::size_t>::max();
  return tasks_ < max_tasks_ ? max_tasks_ - tasks_ : 1;
}

const char* Lifetime::reached() {
  if (max_tasks_ > 0 && tasks_ >= max_tasks_) return "max_tasks";
  if (max_age_ns_ == 0 && pool_.max_memory == 0) return nullptr;
  const Nanos now = boot_ns();
  if (born_ns_ == 0) born_ns_ = now;
  if (max_age_ns_ > 0 && now - born_ns_ >= max_age_ns_) return "max_age";
  return too_large(now) ? "max_memory" : nullptr;
}

// A worker that ran nothing stays: another one would be as large, and nothing would ever run.
bool Lifetime::too_large(Nanos now) {
  if (pool_.max_memory == 0 || tasks_ == sized_at_ || now < next_size_ns_) return false;
  next_size_ns_ = now + kSizeEvery;
  sized_at_ = tasks_;
  return resident_mib() >= pool_.max_memory;
}

std::uint64_t resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1'048'576;
}

}  // namespace allot::process
