// SPDX-License-Identifier: Apache-2.0
#include "steward/findings.h"

#include <iterator>
#include <utility>

#include "queue/findings/checks.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kFindingsEvery = 60 * kSecond;

}  // namespace

Chore Findings::chore() {
  const auto run = [this](bool fresh) {
    if (fresh) {
      next_check_ = 0;
      found_.clear();
    }
    return check_one();
  };
  return {
      .name = "findings", .duties = {{0, "findings"}}, .every = kFindingsEvery, .run_once = run};
}

Again Findings::check_one() {
  const auto& checks = queue::checks_of_each_minute();
  if (next_check_ < checks.size()) {
    const queue::Check check = checks[next_check_++];
    queue::Findings more =
        ask(session_, [&](db::Connection& db) { return check(db, queue::Observer{settings_}); });
    std::move(more.begin(), more.end(), std::back_inserter(found_));
    return kMore;
  }
  ask(session_, [&](db::Connection& db) {
    queue::store_findings(db, found_);
    return true;
  });
  return kDone;
}

}  // namespace allot::steward
