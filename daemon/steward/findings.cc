// SPDX-License-Identifier: Apache-2.0
#include "steward/findings.h"

#include <algorithm>
#include <iterator>

#include "log/log.h"
#include "queue/findings/checks.h"
#include "steward/ask.h"

namespace allot::steward {
namespace {

constexpr Nanos kFindingsEvery = 60 * kSecond;

}  // namespace

Findings::Findings(worker::Session& session, const config::Settings& settings,
                   Leadership& leadership)
    : session_(session), settings_(settings), leadership_(leadership) {
  leadership_.want(name_);
}

void Findings::look() {
  if (boot_ns() < next_ns_) return;
  if (!leadership_.leads(name_)) {
    next_ns_ = std::max(leadership_.next_ns(), boot_ns() + kMilli);
    return;
  }
  try {
    check_one();
  } catch (const db::DbError& error) {
    next_check_ = 0;
    found_.clear();
    next_ns_ = boot_ns() + kFindingsEvery;
    leadership_.failed(name_, error.what());
    log::error("duty.failed", {{"duty", name_.name}, {"error", error.what()}});
  }
}

void Findings::check_one() {
  const auto& checks = queue::checks_of_each_minute();
  if (next_check_ < checks.size()) {
    const queue::Check check = checks[next_check_++];
    queue::Findings more =
        ask(session_, [&](db::Connection& db) { return check(db, queue::Onlooker{settings_}); });
    std::move(more.begin(), more.end(), std::back_inserter(found_));
    next_ns_ = boot_ns() + kMilli;  // lets the other chores run in between
    return;
  }
  ask(session_, [&](db::Connection& db) {
    queue::store_findings(db, found_);
    return true;
  });
  next_check_ = 0;
  found_.clear();
  next_ns_ = boot_ns() + kFindingsEvery;
  leadership_.ran(name_);
}

}  // namespace allot::steward
