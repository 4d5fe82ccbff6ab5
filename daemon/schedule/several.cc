// SPDX-License-Identifier: Apache-2.0
// Rule: S36.
#include "schedule/several.h"

#include <algorithm>

#include "schedule/next.h"

namespace allot::schedule {
namespace {

// Up to `most` ticks, the first ones in (after, until]. `next` is the first tick that is left out.
struct Walk {
  std::vector<Instant> ticks;
  std::optional<Instant> next;
  [[nodiscard]] bool is_whole(Instant until) const { return !next || *next > until; }
};

Walk walk(const Expression& expression, const Zone& zone, Instant after, Instant until,
          std::size_t most) {
  Walk found{{}, next(expression, zone, after)};
  while (found.next && *found.next <= until && found.ticks.size() < most) {
    found.ticks.push_back(*found.next);
    found.next = next(expression, zone, *found.next);
  }
  return found;
}

void keep_newest(std::vector<Instant>& ticks, std::size_t most) {
  if (ticks.size() > most) ticks.erase(ticks.begin(), ticks.end() - static_cast<long>(most));
}

// Finds a start before `until` with at least `most` ticks, and few enough to be walked: the
// distance is doubled until it has enough, then halved until it has not too many. The whole period
// has more than kMostCounted.
Walk newest_of_many(const Expression& expression, const Zone& zone, Instant after, Instant until,
                    std::size_t most) {
  Instant few = 0;
  Instant span = static_cast<Instant>(most);
  Instant many = 0;  // 0: unknown
  for (;;) {
    const Instant from = std::max(after, until - span);
    Walk found = walk(expression, zone, from, until, kMostCounted);
    if (!found.is_whole(until)) {
      many = span;
      span = few + (many - few) / 2;
    } else if (found.ticks.size() < most && from > after) {
      few = span;
      span = many == 0 ? span * 2 : few + (many - few) / 2;
    } else {
      return found;
    }
    // Impossible, because there is at most one tick per second.
    if (many != 0 && many - few <= 1) return found;
  }
}

// Counts arithmetically, from `after` on.
Missed missed_of_period(std::int64_t every, Instant after, Instant until, std::size_t most) {
  Missed missed;
  const std::int64_t count = until > after ? (until - after) / every : 0;
  missed.count = static_cast<std::uint64_t>(count);
  missed.next = after + (count + 1) * every;
  const auto kept = std::min<std::int64_t>(count, static_cast<std::int64_t>(most));
  for (std::int64_t i = count - kept + 1; i <= count; ++i) {
    missed.newest.push_back(after + i * every);
  }
  return missed;
}

}  // namespace

std::vector<Instant> upcoming(const Expression& expression, const Zone& zone, Instant after,
                              Instant until, std::size_t most) {
  Walk found = walk(expression, zone, after, until, most);
  if (found.ticks.empty() && found.next) found.ticks.push_back(*found.next);
  return std::move(found.ticks);
}

Missed missed(const Expression& expression, const Zone& zone, Instant after, Instant until,
              std::size_t most) {
  most = std::clamp<std::size_t>(most, 1, kMostCounted);
  if (expression.every() > 0) return missed_of_period(expression.every(), after, until, most);
  Walk found = walk(expression, zone, after, until, kMostCounted);
  Missed missed;
  missed.count = found.ticks.size();
  missed.at_least = !found.is_whole(until);
  if (missed.at_least) found = newest_of_many(expression, zone, after, until, most);
  missed.next = found.next;
  missed.newest = std::move(found.ticks);
  keep_newest(missed.newest, most);
  return missed;
}

}  // namespace allot::schedule
