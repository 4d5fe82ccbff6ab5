// SPDX-License-Identifier: Apache-2.0
#include "fault/meter.h"

#include <algorithm>

namespace allot::fault {
namespace {

constexpr Nanoseconds kBetween = 2 * kSecond;  // between two memory samples
constexpr Nanoseconds kWarm = 10 * kSecond;    // a process has allocated its memory by then
constexpr Nanoseconds kGone = 3 * kBetween;    // unseen for this time: a reused number

// Not available as a status variable.
std::uint64_t timeouts(db::Connection& db) {
  auto results = db.execute(
      "SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_timeouts'");
  const auto row = results.front().next();
  return row ? row->u64(0) : 0;
}

// The counters restart with the server.
std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
  return after >= before ? after - before : after;
}

}  // namespace

void Meter::sample(bool provoked) {
  read_counters(provoked);
  if (now() < next_memory_) return;
  next_memory_ = now() + kBetween;
  read_memory();
}

void Meter::read_counters(bool provoked) {
  auto db = cluster_.connect();
  if (!db) return;
  Counted fresh;
  try {
    fresh = {support::server_counter(*db, "Innodb_deadlocks"), timeouts(*db),
             support::server_counter(*db, "Innodb_row_lock_waits"),
             support::server_counter(*db, "Innodb_row_lock_time")};
  } catch (const db::DbError&) {
    return;  // it went down just now
  }
  Counted& into = provoked ? provoked_ : counted_;
  into.deadlocks += growth(last_.deadlocks, fresh.deadlocks);
  into.timeouts += growth(last_.timeouts, fresh.timeouts);
  into.lock_waits += growth(last_.lock_waits, fresh.lock_waits);
  into.waited_ms += growth(last_.waited_ms, fresh.waited_ms);
  last_ = fresh;
  if (provoked) provoked_times_.emplace_back(last_at_, now());
  last_at_ = now();
}

void Meter::read_memory() {
  const auto note = [](Seen& seen, pid_t pid) {
    const std::uint64_t bytes = resident_bytes(pid);
    auto& samples = seen[pid];
    if (!samples.empty() && now() - samples.back().first > kGone) samples.clear();
    if (bytes != 0) samples.emplace_back(now(), bytes);
  };
  for (const auto& host : cluster_.hosts()) {
    if (!host->up()) continue;
    note(supervisors_, host->pid());
    for (const Target& worker : host->workers()) note(workers_, worker.pid);
  }
}

Meter::Memory Meter::longest(const Seen& seen) {
  Memory memory;
  for (const auto& [pid, all] : seen) {
    const auto& samples = all;  // a binding cannot be captured
    if (samples.empty()) continue;
    const Nanoseconds age = samples.back().first - samples.front().first;
    if (age < memory.age) continue;
    const auto warm = std::find_if(samples.begin(), samples.end(), [&](const auto& sample) {
      return sample.first - samples.front().first >= std::min(kWarm, age);
    });
    const auto most =
        std::max_element(samples.begin(), samples.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    memory = {age, warm->second, samples.back().second, most->second};
  }
  return memory;
}

}  // namespace allot::fault
