// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutant.h"
#include "queue/model/lease.h"

namespace allot::queue {

// How long a process must have seen a row unchanged before it may treat it as expired.
enum class StoodStill {
  kHalf,  // of its TTL: its holder has missed a renewal, and its writes are fenced
  kAll    // its TTL: the holder itself has given it up, whatever the database's clock did (S38)
};

// Rule S4, for leases, detached tasks and named locks: a process takes over only what it has itself
// seen unchanged. `Observation` is an ObservedTerm with a key(); the TTL of its holder decides, and
// `ttl_ns` of this process only sets the polling interval.
//
// The watch reads the clock itself, because the order matters: a row may have been renewed until
// the statement that reads it was executed, so it is known to be unchanged only from the time the
// reply arrived. A time taken before the statement is too early by the time the statement was on
// its way.
template <typename Key, typename Observation>
class ExpiredHolderWatch {
 public:
  struct Still {
    Observation observed;
    bool stale = false;  // for longer than its TTL: ignore the database's clock
  };

  using Clock = std::function<Nanos()>;

  // `clock` is CLOCK_BOOTTIME, except in tests.
  explicit ExpiredHolderWatch(Nanos ttl_ns, StoodStill least = StoodStill::kHalf,
                              Clock clock = boot_ns)
      : ttl_ns_(ttl_ns), least_(least), clock_(std::move(clock)) {}

  [[nodiscard]] bool due() const { return clock_() >= next_poll_ns_; }
  [[nodiscard]] Nanos next_poll_ns() const { return next_poll_ns_; }
  [[nodiscard]] bool empty() const { return watched_.empty(); }

  // Polls: `statement()` sends the statement and returns the rows. `generation()` is the number of
  // the connection that answered; it is read afterwards, because the statement may have been sent
  // again over another connection.
  template <typename Statement, typename Generation>
  void poll(Statement&& statement, Generation&& generation) {
    const Nanos sent = clock_();
    std::vector<Observation> seen = statement();
    const Nanos answered = clock_();
    saw(std::move(seen), generation(), mutant::removed("poll_stamp") ? sent : answered);
  }

  // Starts over, for a process that polled elsewhere in between.
  void forget() {
    watched_.clear();
    next_poll_ns_ = 0;
  }

  // A row that may be taken over. Each is returned once between two polls, because it may be
  // locked, or another process was faster.
  std::optional<Still> take() {
    const Nanos now = clock_();
    for (auto& [key, watched] : watched_) {
      if (!may_take(watched, now)) continue;
      watched.tried = true;
      return Still{watched.observed, stale(watched, now)};
    }
    return std::nullopt;
  }
  // Whether take() would return one.
  [[nodiscard]] bool any() const {
    return std::any_of(watched_.begin(), watched_.end(), [&, now = clock_()](const auto& each) {
      return may_take(each.second, now);
    });
  }

 private:
  // A row of another holder, and since when this process has seen it unchanged.
  struct Watched {
    Observation observed;
    Nanos since_ns = 0;
    bool tried = false;  // since the last poll
  };

  void saw(std::vector<Observation> seen, std::uint64_t generation, Nanos polled) {
    if (generation_ != generation) {
      // After an outage all rows look unchanged; give the holders time to come back.
      generation_ = generation;
      if (!mutant::removed("reconnect_grace")) watched_.clear();
    }
    std::map<Key, Watched> fresh;
    Nanos next = ttl_ns_ / 6;
    for (Observation& observed : seen) {
      const Key key = observed.key();
      Nanos since = polled;
      const auto old = watched_.find(key);
      if (old != watched_.end() && old->second.observed.epoch == observed.epoch &&
          old->second.observed.expire_at == observed.expire_at) {
        since = old->second.since_ns;
      }
      // Polls again when the lease may be taken over, so as not to be late by a whole interval.
      const Nanos expires = polled + in_ns(observed.remaining);
      next = std::min(next, std::max(expires, since + least_of(observed)) - polled);
      fresh.emplace(key, Watched{std::move(observed), since, false});
    }
    watched_ = std::move(fresh);
    next_poll_ns_ = polled + std::max(next, std::min(kLeastInterval, ttl_ns_ / 6));
  }

  [[nodiscard]] static bool stale(const Watched& watched, Nanos now) {
    return now - watched.since_ns >= longest_of(watched.observed) + kSecond ||
           mutant::removed("takeover_wait");
  }
  [[nodiscard]] bool may_take(const Watched& watched, Nanos now) const {
    if (watched.tried) return false;
    return stale(watched, now) ||
           (watched.observed.expired && now - watched.since_ns >= least_of(watched.observed));
  }

  static constexpr Nanos kLeastInterval = 100 * kMilli;
  static constexpr Nanos kLongestTtl = 3600 * kSecond;  // allowed by the configuration

  // A row may lack its TTL. Then our own TTL is used for a lease that is expired by the database's
  // clock, and the longest possible one for any other.
  [[nodiscard]] Nanos least_of(const Observation& observed) const {
    const Nanos ttl = observed.ttl ? in_ns(*observed.ttl) : ttl_ns_;
    return least_ == StoodStill::kHalf ? ttl / 2 : ttl;
  }
  static Nanos longest_of(const Observation& observed) {
    return observed.ttl ? in_ns(*observed.ttl) : kLongestTtl;
  }

  Nanos ttl_ns_;
  StoodStill least_;
  Clock clock_;
  std::map<Key, Watched> watched_;
  std::uint64_t generation_ = 0;
  Nanos next_poll_ns_ = 0;
};

}  // namespace allot::queue
