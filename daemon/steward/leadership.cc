// SPDX-License-Identifier: Apache-2.0
#include "steward/leadership.h"

#include <algorithm>
#include <chrono>

#include "log/log.h"

namespace allot::steward {
namespace {

using queue::DutyName;
using queue::DutyNames;

// Two rounds per term, in case one fails.
constexpr Nanos kRound = 2'400 * kMilli;
constexpr Nanos kViewedFor = 10 * kSecond;

// Names in `these` that are not in `those`, for the log; "0/NAME" is a duty of the cluster.
std::string rest_of(const DutyNames& these, const DutyNames& those) {
  std::string text;
  for (const DutyName& duty : these) {
    if (those.count(duty) > 0 || duty.name == queue::kViewersDuty) continue;
    text += (text.empty() ? "" : " ") + std::to_string(duty.queue_id) + "/" + duty.name;
  }
  return text;
}

void log_change(const DutyNames& before, const DutyNames& now) {
  const std::string lost = rest_of(before, now);
  const std::string won = rest_of(now, before);
  if (!lost.empty()) log::info("duty.lost", {{"duties", lost}});
  if (!won.empty()) log::info("duty.taken", {{"duties", won}});
}

}  // namespace

void Leadership::want(DutyName duty) {
  if (candidates_.try_emplace(std::move(duty)).second) next_ns_ = 0;
}

void Leadership::want_with(const DutyName& duty, DutyName other) {
  want(duty);
  candidates_[duty].with = std::move(other);
}

bool Leadership::viewed() const {
  return viewed_ns_ != 0 && boot_ns() < viewed_ns_ + kViewedFor;
}

void Leadership::round() {
  const Nanos now = boot_ns();
  if (left_ || now < next_ns_) return;
  next_ns_ = now + kRound;
  if (candidates_.empty()) return;
  const DutyNames before = ours();
  Nanos sent_ns = 0;
  const bool kept = before.empty() || renew(before, sent_ns);
  if (!kept) {
    see_and_take(before, sent_ns);
  } else if (before.size() < candidates_.size()) {
    see_and_take({}, 0);
  }
  log_change(before, ours());
}

std::uint64_t Leadership::term(const DutyName& duty) const {
  const auto found = candidates_.find(duty);
  const bool led =
      found != candidates_.end() && found->second.ours && boot_ns() < found->second.until_ns;
  return led ? found->second.term : 0;
}

std::optional<Nanos> Leadership::since_last_run(const DutyName& duty) const {
  const auto found = candidates_.find(duty);
  if (found == candidates_.end() || !found->second.ran_ns) return std::nullopt;
  const auto since = static_cast<std::int64_t>(boot_ns()) - *found->second.ran_ns;
  return since > 0 ? static_cast<Nanos>(since) : 0;
}

// Results of a duty that now belongs to another host are not written.
void Leadership::ran(const DutyName& duty) {
  const auto found = candidates_.find(duty);
  if (found == candidates_.end() || !found->second.ours) return;
  found->second.ran_ns = static_cast<std::int64_t>(boot_ns());
  notes_.ran.insert(duty);
  notes_.failed.erase(duty);
}

void Leadership::failed(const DutyName& duty, const std::string& error) {
  const auto found = candidates_.find(duty);
  if (found == candidates_.end() || !found->second.ours) return;
  notes_.failed[duty] = error;
}

// Also continues its own expired term, if no host took it since. False: not all duties belong to
// this host yet, and it leads none of them before it has read them.
bool Leadership::renew(const DutyNames& duties, Nanos& sent_ns) {
  const std::size_t renewed = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    return store_.renew(db, duties, notes_);
  });
  notes_ = {};
  const bool all = renewed == duties.size();
  for (const DutyName& duty : duties) {
    candidates_[duty].until_ns = all ? sent_ns + in_nanos(queue::kDutyTtl) : 0;
  }
  return all;
}

// Duties in `renewed` that still belong to this host are confirmed as of `sent_ns`.
void Leadership::see_and_take(const DutyNames& renewed, Nanos sent_ns) {
  see();
  if (seen_.size() < candidates_.size()) {
    make_missing();
    see();
  }
  take_in(renewed, sent_ns);
  const std::vector<queue::SeenDuty> over = to_take();
  if (!over.empty()) take_terms(over);
  come_back_in_time();
}

void Leadership::make_missing() {
  DutyNames missing;
  for (const auto& [duty, candidate] : candidates_) missing.insert(duty);
  for (const queue::SeenDuty& seen : seen_) missing.erase(seen.duty);
  session_.call([&](db::Connection& db) { queue::make_duties(db, missing); });
}

std::vector<queue::SeenDuty> Leadership::to_take() const {
  DutyNames ours_then = ours();
  for (const queue::SeenDuty& seen : seen_) {
    if (seen.over) ours_then.insert(seen.duty);
  }
  std::vector<queue::SeenDuty> over;
  for (const queue::SeenDuty& seen : seen_) {
    const auto& with = candidates_.at(seen.duty).with;
    if (seen.over && (!with || ours_then.contains(*with))) over.push_back(seen);
  }
  return over;
}

void Leadership::take_terms(std::span<const queue::SeenDuty> over) {
  claimed_ = true;
  Nanos sent_ns = 0;
  const std::size_t claimed = session_.call([&](db::Connection& db) {
    sent_ns = boot_ns();
    return store_.take_terms(db, over);
  });
  DutyNames duties;
  for (const queue::SeenDuty& seen : over) duties.insert(seen.duty);
  if (claimed < duties.size()) {
    see();
    return take_in(duties, sent_ns);
  }
  for (const DutyName& duty : duties) {
    Candidate& candidate = candidates_[duty];
    candidate.ours = true;
    ++candidate.term;
    candidate.until_ns = sent_ns + in_nanos(queue::kDutyTtl);
  }
}

void Leadership::see() {
  DutyNames all;
  for (const auto& [duty, candidate] : candidates_) all.insert(duty);
  seen_ = session_.call([&](db::Connection& db) { return queue::DutyStore::watch(db, all); });
  seen_ns_ = boot_ns();
}

// Applies the last read to each duty. Duties in `confirmed` that belong to this host are confirmed
// as of `sent_ns`.
void Leadership::take_in(const DutyNames& confirmed, Nanos sent_ns) {
  const DutyNames before = ours();
  for (auto& [duty, candidate] : candidates_) candidate.ours = false;
  for (const queue::SeenDuty& seen : seen_) {
    Candidate& candidate = candidates_[seen.duty];
    const bool taken = !seen.holder && !seen.over;
    if (taken && seen.duty.name == queue::kViewersDuty) viewed_ns_ = seen_ns_;
    candidate.ours = seen.holder == store_.holder().id && !seen.over;
    if (candidate.ours && !before.contains(seen.duty)) ++candidate.term;
    if (candidate.ours && confirmed.count(seen.duty) > 0) {
      candidate.until_ns = sent_ns + in_nanos(queue::kDutyTtl);
    }
    if (!seen.ran_ago) continue;
    const auto ran_ns =
        static_cast<std::int64_t>(seen_ns_) - static_cast<std::int64_t>(in_nanos(*seen.ran_ago));
    candidate.ran_ns = std::max(candidate.ran_ns.value_or(ran_ns), ran_ns);
  }
  for (auto& [duty, candidate] : candidates_) {
    if (!candidate.ours) candidate.until_ns = 0;
  }
}

// Schedules a round for the moment when another leader's term is over.
void Leadership::come_back_in_time() {
  for (const queue::SeenDuty& seen : seen_) {
    if (seen.over || seen.holder == store_.holder().id) continue;
    next_ns_ = std::min(next_ns_, seen_ns_ + in_nanos(seen.remaining) + kMilli);
  }
}

DutyNames Leadership::ours() const {
  DutyNames duties;
  for (const auto& [duty, candidate] : candidates_) {
    if (candidate.ours) duties.insert(duty);
  }
  return duties;
}

void Leadership::leave() {
  if (std::exchange(left_, true) || !claimed_) return;
  const DutyNames duties = ours();
  const bool to_tell = !duties.empty() && !(notes_.ran.empty() && notes_.failed.empty());
  candidates_.clear();
  try {
    const auto given_back =
        session_.call_while([] { return false; },
                            [&](db::Connection& db) {
                              if (to_tell) static_cast<void>(store_.renew(db, duties, notes_));
                              return queue::return_duties(db, store_.holder().id);
                            });
    log::info("duty.returned", {{"duties", given_back.value_or(0)}});
  } catch (const db::DbError& error) {
    log::warn("duty.not_returned", {{"error", error.what()}});
  }
}

}  // namespace allot::steward
