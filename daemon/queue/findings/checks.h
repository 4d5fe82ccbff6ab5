// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/findings/finding.h"
#include "queue/views/health.h"

// The database checks of `allot doctor`; the leading steward runs some of them once a minute. Each
// is a few read-only statements and also returns what is in order.
namespace allot::queue {

// The component that runs the checks, and what it knows itself.
struct Observer {
  const config::Settings& settings;
  // Set by a command: whether the holder of a lease is a process of this host that is gone.
  std::function<bool(const HeldLease&)> gone = [](const HeldLease& /*lease*/) { return false; };
};

using Check = Findings (*)(db::Connection& db, const Observer& by);

// server_checks.cc
Findings check_server(db::Connection& db, const Observer& by);
Findings check_waking(db::Connection& db, const Observer& by);
Findings check_procedures(db::Connection& db, const Observer& by);
Findings check_protocol(db::Connection& db, const Observer& by);
Findings check_clock(db::Connection& db, const Observer& by);
Findings check_last_server(db::Connection& db, const Observer& by);
Findings check_writers(db::Connection& db, const Observer& by);
// queue_checks.cc
Findings check_leases(db::Connection& db, const Observer& by);
Findings check_lease_rows(db::Connection& db, const Observer& by);
Findings check_far_tasks(db::Connection& db, const Observer& by);
Findings check_duties(db::Connection& db, const Observer& by);
Findings check_failed_duties(db::Connection& db, const Observer& by);
Findings check_purge(db::Connection& db, const Observer& by);
Findings check_served(db::Connection& db, const Observer& by);

// The checks of the steward, in display order. Left out: what notices already report (a duty
// without a leader, a late purge, a second writer), what a start has tried (the protocol), and what
// costs a probe per partition (far tasks).
[[nodiscard]] const std::vector<Check>& checks_of_each_minute();

}  // namespace allot::queue
