// SPDX-License-Identifier: Apache-2.0
#include "steward/lease_rows.h"

#include "log/log.h"
#include "queue/operate/lease_rows.h"
#include "queue/verbs/deferred.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kRowsEvery = 30 * kSecond;
constexpr Nanos kRowsSoon = kSecond;  // while another host leads

queue::DutyName rows_duty() {
  return {0, "schedules"};
}

}  // namespace

LeaseRows::LeaseRows(worker::Session& session, Leadership& leadership)
    : session_(session), leadership_(leadership) {
  leadership_.want(rows_duty());
}

void LeaseRows::look() {
  if (boot_ns() < next_ns_) return;
  next_ns_ = boot_ns() + kRowsSoon;
  if (!leadership_.leads(rows_duty())) return;
  next_ns_ = boot_ns() + kRowsEvery;
  try {
    const auto filled = ask(session_, [](db::Connection& db) { return queue::fill_holes(db); });
    for (const queue::QueueHoles& queue : filled) {
      log::warn("partitions.filled", {{"queue", queue.queue}, {"partitions", queue.missing}});
    }
    const auto bounded =
        ask(session_, [](db::Connection& db) { return queue::bound_releases(db); });
    if (bounded > 0) log::warn("releases.reset", {{"partitions", bounded}});
    // The rest follows half a minute later.
    (void)ask(session_, [](db::Connection& db) { return queue::purge_deferred(db); });
  } catch (const db::DbError& error) {
    log::error("lease_rows.failed", {{"error", error.what()}});
  }
}

}  // namespace allot::steward
