// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/settings.h"
#include "db/connection.h"
#include "queue/findings/finding.h"
#include "queue/look/health.h"

// The checks of the database that `allot doctor` makes, and of which the steward makes some once a
// minute. Each is a few statements that change nothing, and returns what is well, too.
namespace allot::queue {

// Who looks, and what that one knows besides.
struct Onlooker {
  const config::Settings& settings;
  // Of a command: whether the holder of a lease is a process of this host that is gone.
  std::function<bool(const HeldLease&)> gone = [](const HeldLease& /*lease*/) { return false; };
};

using Check = Findings (*)(db::Connection& db, const Onlooker& by);

// server_checks.cc
Findings check_server(db::Connection& db, const Onlooker& by);
Findings check_waking(db::Connection& db, const Onlooker& by);
Findings check_procedures(db::Connection& db, const Onlooker& by);
Findings check_protocol(db::Connection& db, const Onlooker& by);
Findings check_clock(db::Connection& db, const Onlooker& by);
Findings check_last_server(db::Connection& db, const Onlooker& by);
Findings check_writers(db::Connection& db, const Onlooker& by);
// queue_checks.cc
Findings check_leases(db::Connection& db, const Onlooker& by);
Findings check_lease_rows(db::Connection& db, const Onlooker& by);
Findings check_far_tasks(db::Connection& db, const Onlooker& by);
Findings check_duties(db::Connection& db, const Onlooker& by);
Findings check_failed_duties(db::Connection& db, const Onlooker& by);
Findings check_purge(db::Connection& db, const Onlooker& by);
Findings check_served(db::Connection& db, const Onlooker& by);

// Those of the steward, in the order in which they are shown. What notices say already (a duty
// without a leader, a late purge, a second writer) is not among them, nor is what a start has
// tried (the protocol), or what costs a probe for each partition (far tasks).
[[nodiscard]] const std::vector<Check>& checks_of_each_minute();

}  // namespace allot::queue
