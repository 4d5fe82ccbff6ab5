// SPDX-License-Identifier: Apache-2.0
#include "steward/audit_purge.h"

#include <algorithm>

#include "log/log.h"
#include "queue/operate/bulk_work.h"
#include "queue/operate/purge.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kAuditEvery = 3600 * kSecond;
// Longest run of a purge, and the pause after it for the other users of the database.
constexpr Nanos kAuditAtOnce = 50 * kMilli;
constexpr Nanos kAuditPause = 100 * kMilli;

}  // namespace

AuditPurge::AuditPurge(worker::Session& session, Leadership& leadership)
    : session_(session), leadership_(leadership) {
  leadership_.want(queue::bulk_duty());
}

void AuditPurge::look() {
  if (boot_ns() < next_ns_) return;
  if (!leadership_.leads(queue::bulk_duty())) {
    next_ns_ = std::max(leadership_.next_ns(), boot_ns() + kMilli);
    return;
  }
  try {
    purge();
  } catch (const db::DbError& error) {
    next_ns_ = boot_ns() + kAuditEvery;
    log::error("duty.failed", {{"duty", "audit"}, {"error", error.what()}});
  }
}

void AuditPurge::purge() {
  const Nanos until = boot_ns() + kAuditAtOnce;
  bool more = true;
  while (more && boot_ns() < until) {
    more = ask(session_, [](db::Connection& db) { return queue::purge_audit(db); });
  }
  next_ns_ = boot_ns() + (more ? kAuditPause : kAuditEvery);
}

}  // namespace allot::steward
