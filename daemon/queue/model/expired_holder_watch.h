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

namespace allot::queue {

// How long a process must have seen something standing still before it may take it for expired.
enum class StoodStill {
  kHalf,  // of its TTL: its holder has missed a renewal, and what it still runs is fenced
  kAll    // its TTL: no holder believes in it any longer, whatever the database's clock did (S38)
};

// Rule S4, for leases, detached tasks and named locks alike: a process takes over only what it has
// itself seen standing still. `Observation` has epoch, expire_at, expired, remaining, and the TTL
// of its holder, which is what counts: that of this process, `ttl_ns`, says no more than how often
// it looks.
//
// The watch reads the clock itself, because the order matters: a row may have been renewed until
// the statement that reads it was executed, so it is known to stand still only since the answer
// arrived. A time taken before the statement is sent is too early by as long as the statement was
// on its way.
template <typename Key, typename Observation>
class ExpiredHolderWatch {
 public:
  struct Still {
    Observation observed;
    bool stale = false;  // for longer than it lasts: do not ask the database's clock
  };

  using Seen = std::vector<std::pair<Key, Observation>>;
  using Clock = std::function<Nanos()>;

  // `clock` is CLOCK_BOOTTIME, except in tests.
  explicit ExpiredHolderWatch(Nanos ttl_ns, StoodStill least = StoodStill::kHalf,
                              Clock clock = boot_ns)
      : ttl_ns_(ttl_ns), least_(least), clock_(std::move(clock)) {}

  [[nodiscard]] bool due() const { return clock_() >= next_look_ns_; }
  [[nodiscard]] Nanos next_look_ns() const { return next_look_ns_; }
  [[nodiscard]] bool empty() const { return watched_.empty(); }

  // Looks: `statement()` sends the statement and returns Seen. `generation()` is the number of the
  // connection that answered; it is asked afterwards, because the statement may have been sent
  // again over another connection.
  template <typename Statement, typename Generation>
  void look(Statement&& statement, Generation&& generation) {
    const Nanos sent = clock_();
    Seen seen = statement();
    const Nanos answered = clock_();
    saw(std::move(seen), generation(), mutant::removed("look_stamp") ? sent : answered);
  }

  // Whoever looked elsewhere meanwhile begins with nothing seen.
  void forget() {
    watched_.clear();
    next_look_ns_ = 0;
  }

  // One that may be taken over. Each comes once between two looks, because it may be locked, or
  // somebody was faster.
  std::optional<Still> take() {
    const Nanos now = clock_();
    for (auto& [key, watched] : watched_) {
      if (!may_take(watched, now)) continue;
      watched.tried = true;
      return Still{watched.observed, stale(watched, now)};
    }
    return std::nullopt;
  }
  // Whether take() would have one.
  [[nodiscard]] bool any() const {
    return std::any_of(watched_.begin(), watched_.end(), [&, now = clock_()](const auto& each) {
      return may_take(each.second, now);
    });
  }

 private:
  // Somebody else's, and since when this process has seen it unchanged.
  struct Watched {
    Observation observed;
    Nanos since_ns = 0;
    bool tried = false;  // since the last look
  };

  void saw(Seen seen, std::uint64_t generation, Nanos looked) {
    if (generation_ != generation) {
      // After an outage everything looks unchanged; give the holders time to come back.
      generation_ = generation;
      if (!mutant::removed("reconnect_grace")) watched_.clear();
    }
    std::map<Key, Watched> fresh;
    Nanos next = ttl_ns_ / 6;
    for (auto& [key, observed] : seen) {
      Nanos since = looked;
      const auto old = watched_.find(key);
      if (old != watched_.end() && old->second.observed.epoch == observed.epoch &&
          old->second.observed.expire_at == observed.expire_at) {
        since = old->second.since_ns;
      }
      // Looks again when the lease may be taken over, so as not to be late by a whole interval.
      const Nanos expires = looked + static_cast<Nanos>(observed.remaining.count()) * kMicro;
      next = std::min(next, std::max(expires, since + least_of(observed)) - looked);
      fresh.emplace(key, Watched{std::move(observed), since, false});
    }
    watched_ = std::move(fresh);
    next_look_ns_ = looked + std::max(next, std::min(kLeastInterval, ttl_ns_ / 6));
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
  static constexpr Nanos kLongestTtl = 3600 * kSecond;  // that the configuration allows

  // A row may not say how long its lease lasts. Then our own TTL has to do for a lease that the
  // database calls expired, and the longest possible one for any other.
  [[nodiscard]] Nanos least_of(const Observation& observed) const {
    const Nanos ttl = observed.ttl ? in_ns(*observed.ttl) : ttl_ns_;
    return least_ == StoodStill::kHalf ? ttl / 2 : ttl;
  }
  static Nanos longest_of(const Observation& observed) {
    return observed.ttl ? in_ns(*observed.ttl) : kLongestTtl;
  }
  static Nanos in_ns(std::chrono::microseconds time) {
    return static_cast<Nanos>(time.count()) * kMicro;
  }

  Nanos ttl_ns_;
  StoodStill least_;
  Clock clock_;
  std::map<Key, Watched> watched_;
  std::uint64_t generation_ = 0;
  Nanos next_look_ns_ = 0;
};

}  // namespace allot::queue
