// SPDX-License-Identifier: Apache-2.0
#include "steward/job_numbers.h"

#include <algorithm>

#include "log/log.h"
#include "queue/fireworq/jobs.h"
#include "queue/operate/bulk_work.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kNumbersEvery = 3600 * kSecond;
// Longest run of a sweep, and the pause after it for the other users of the database.
constexpr Nanos kNumbersAtOnce = 50 * kMilli;
constexpr Nanos kNumbersPause = 100 * kMilli;

}  // namespace

JobNumbers::JobNumbers(worker::Session& session, Leadership& leadership)
    : session_(session), leadership_(leadership) {
  leadership_.want(queue::bulk_duty());
}

void JobNumbers::look() {
  if (boot_ns() < next_ns_) return;
  if (!leadership_.leads(queue::bulk_duty())) {
    next_ns_ = std::max(leadership_.next_ns(), boot_ns() + kMilli);
    return;
  }
  try {
    sweep();
  } catch (const db::DbError& error) {
    next_ns_ = boot_ns() + kNumbersEvery;
    log::error("duty.failed", {{"duty", "job_numbers"}, {"error", error.what()}});
  }
}

void JobNumbers::sweep() {
  const Nanos until = boot_ns() + kNumbersAtOnce;
  bool more = true;
  while (more && boot_ns() < until) {
    more = ask(session_, [this](db::Connection& db) {
      std::uint64_t after = after_;
      const bool goes_on = queue::sweep_numbers(db, after);
      after_ = after;
      return goes_on;
    });
  }
  next_ns_ = boot_ns() + (more ? kNumbersPause : kNumbersEvery);
}

}  // namespace allot::steward
