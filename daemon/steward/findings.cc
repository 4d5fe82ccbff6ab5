// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <utility>

#include "queue/findings/checks.h"
#include "queue/findings/finding.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

constexpr Nanos kFindingsEvery = 60 * kSecond;

struct Found {
  std::size_t next_check = 0;
  queue::Findings list{};
};

// Runs the next check; after the last one, stores all findings.
Again check_one(process::Session& session, const config::Settings& settings, Found& found) {
  const auto& checks = queue::checks_of_each_minute();
  if (found.next_check < checks.size()) {
    const queue::Check check = checks[found.next_check++];
    queue::Findings more =
        ask(session, [&](db::Connection& db) { return check(db, queue::Observer{settings}); });
    std::move(more.begin(), more.end(), std::back_inserter(found.list));
    return kMore;
  }
  ask(session, [&](db::Connection& db) { queue::store_findings(db, found.list); });
  return kDone;
}

}  // namespace

Chore findings(process::Session& session, const config::Settings& settings) {
  const auto run = [&session, &settings, found = Found()](bool fresh) mutable {
    if (fresh) found = {};
    return check_one(session, settings, found);
  };
  return {
      .name = "findings", .duties = {{0, "findings"}}, .every = kFindingsEvery, .run_once = run};
}

}  // namespace allot::steward
