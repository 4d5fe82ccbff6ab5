// SPDX-License-Identifier: Apache-2.0
// Rule: S36.
#include "schedule/next.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <vector>

namespace allot::schedule {
namespace {

constexpr std::int64_t kHourLong = 3600;
constexpr std::int64_t kDayLong = 24 * kHourLong;
constexpr int kDaysAhead = 50 * 366;
// Upper bound of all offsets from UTC, past and present.
constexpr std::int64_t kFurthest = 16 * kHourLong;
// Search step: two changes of a zone within it could be missed; real changes are days apart.
constexpr std::int64_t kLook = 8 * kHourLong;
// The years 1 to 9999, the safe range of the library's calendar.
constexpr Instant kEarliest = INT64_C(-62135596800);
constexpr Instant kLatest = INT64_C(253402300799);

bool has(std::uint64_t values, unsigned value) {
  return (values >> value & 1) != 0;
}

// The smallest value that is at least `from`; 64 if there is none.
int first_value(std::uint64_t values, int from) {
  return from > 63 ? 64 : std::countr_zero(values >> from << from);
}

bool fits(const Fields& fields, std::chrono::local_days day) {
  const std::chrono::year_month_day date(day);
  if (!has(fields.months, static_cast<unsigned>(date.month()))) return false;
  const auto number = static_cast<unsigned>(date.day());
  const auto last = static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day());
  const unsigned weekday = std::chrono::weekday(day).c_encoding();
  const bool by_day = has(fields.days, number) || (fields.last_day && number == last);
  const bool by_weekday = has(fields.weekdays, weekday) ||
                          has(fields.nth_weekday.at(weekday), (number + 6) / 7) ||
                          (number + 7 > last && has(fields.last_weekday, weekday));
  if (fields.asks_day && fields.asks_weekday) return by_day || by_weekday;
  return by_day && by_weekday;
}

// The first matching second of a day that is at least `from`.
std::optional<std::int64_t> first_time(const Fields& fields, std::int64_t from) {
  const auto from_hour = static_cast<int>(from / kHourLong);
  const auto from_minute = static_cast<int>(from / 60 % 60);
  for (int hour = first_value(fields.hours, from_hour); hour < 24;
       hour = first_value(fields.hours, hour + 1)) {
    const bool same_hour = hour == from_hour;
    for (int minute = first_value(fields.minutes, same_hour ? from_minute : 0); minute < 60;
         minute = first_value(fields.minutes, minute + 1)) {
      const bool same_minute = same_hour && minute == from_minute;
      const int second = first_value(fields.seconds, same_minute ? static_cast<int>(from % 60) : 0);
      if (second < 60) return hour * kHourLong + minute * INT64_C(60) + second;
    }
  }
  return std::nullopt;
}

// A period from `begin` to before `end` with a constant offset.
struct Stretch {
  Instant begin;
  Instant end;
  std::int64_t offset;
};

// The first instant with another offset than `from`; `to` has the new one.
Instant change_between(const Zone& zone, Instant from, Instant to) {
  const std::int64_t offset = zone.offset(from);
  while (to - from > 1) {
    const Instant middle = from + (to - from) / 2;
    (zone.offset(middle) == offset ? from : to) = middle;
  }
  return to;
}

// All stretches that overlap the local day which begins at `midnight`.
std::vector<Stretch> stretches(const Zone& zone, std::int64_t midnight) {
  const Instant end = midnight + kDayLong + kFurthest;
  Instant begin = midnight - kFurthest;
  std::int64_t offset = zone.offset(begin);
  std::vector<Stretch> found;
  for (Instant at = begin; at < end; at += kLook) {
    const Instant seen = std::min(at + kLook, end);
    const std::int64_t other = zone.offset(seen);
    if (other == offset) continue;
    const Instant change = change_between(zone, at, seen);
    found.push_back({begin, change, offset});
    begin = change;
    offset = other;
  }
  found.push_back({begin, end, offset});
  return found;
}

// The first instant after `after` on that day whose local time matches.
std::optional<Instant> each_moment(const Fields& fields, const std::vector<Stretch>& parts,
                                   std::int64_t midnight, Instant after) {
  for (const Stretch& part : parts) {
    const Instant begin = std::max(part.begin, after + 1);
    const std::int64_t from = std::max<std::int64_t>(begin + part.offset - midnight, 0);
    if (from >= kDayLong) continue;
    const auto time = first_time(fields, from);
    if (!time) continue;
    const Instant at = midnight + *time - part.offset;
    if (at < part.end) return at;
  }
  return std::nullopt;
}

// Instant at which clocks first show that local time, or first show a later one.
Instant reached(const std::vector<Stretch>& parts, std::int64_t local) {
  for (const Stretch& part : parts) {
    if (local < part.end + part.offset) return std::max(part.begin, local - part.offset);
  }
  return parts.back().end;
}

std::optional<Instant> time_of_day(const Fields& fields, const std::vector<Stretch>& parts,
                                   std::int64_t midnight, Instant after) {
  for (auto time = first_time(fields, 0); time; time = first_time(fields, *time + 1)) {
    const Instant at = reached(parts, midnight + *time);
    if (at > after) return at;
  }
  return std::nullopt;
}

std::optional<Instant> on_day(const Fields& fields, const Zone& zone, std::chrono::local_days day,
                              Instant after) {
  if (!fits(fields, day)) return std::nullopt;
  const std::int64_t midnight = day.time_since_epoch().count() * kDayLong;
  const std::vector<Stretch> parts = stretches(zone, midnight);
  return fields.fixed_time ? time_of_day(fields, parts, midnight, after)
                           : each_moment(fields, parts, midnight, after);
}

}  // namespace

std::optional<Instant> next(const Expression& expression, const Zone& zone, Instant after) {
  if (after < kEarliest || after > kLatest) return std::nullopt;
  if (expression.every() > 0) return after + expression.every();
  const Fields& fields = expression.fields();
  const std::chrono::local_seconds now(std::chrono::seconds(after + zone.offset(after)));
  const auto today = std::chrono::floor<std::chrono::days>(now);
  // If clocks are set back over midnight, parts of yesterday follow the beginning of today. So the
  // search begins with yesterday, and a match is compared with the matches of the next day.
  for (int ahead = -1; ahead <= kDaysAhead; ++ahead) {
    const auto day = today + std::chrono::days(ahead);
    const auto found = on_day(fields, zone, day, after);
    if (!found) continue;
    const auto other = on_day(fields, zone, day + std::chrono::days(1), after);
    return other ? std::min(*found, *other) : found;
  }
  return std::nullopt;
}

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
