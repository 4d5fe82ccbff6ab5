// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "peer/poll_page.h"
#include "process/session.h"
#include "queue/model/expired_holder_watch.h"

namespace allot::worker {

// Stalled holders that a worker may take over (S4): found by the steward of its host (S77), or by
// the worker itself if the steward's page is old or belongs to another server; its own watch then
// starts empty. Rows are always read by the worker: the page only says which.
template <typename Key, typename Observation>
class HolderWatch {
  using OwnWatch = queue::ExpiredHolderWatch<Key, Observation>;

 public:
  using Still = typename OwnWatch::Still;

  HolderWatch(process::Session& session, Nanos ttl_ns) : session_(session), own_(ttl_ns) {}

  // Costs one read of the page, unless it shows a stalled holder or cannot be used. `key_of()`: the
  // key of an entry, if it is of this kind; `served()`: whether its queue is served; `statement()`
  // reads the rows.
  template <typename KeyOf, typename Served, typename Statement>
  void poll(KeyOf&& key_of, Served&& served, Statement&& statement) {
    const auto page = session_.steward_poll();
    if (!page) return poll_itself(statement);
    if (page->polled_ns == page_ns_) return;
    if (page_ns_ == 0) own_.forget();
    page_ns_ = page->polled_ns;
    still_.clear();
    std::map<Key, peer::StandingLease> listed;
    for (std::size_t at = 0; at < page->count; ++at) {
      const auto key = key_of(page->standing[at]);
      if (key && served(*key)) listed.emplace(*key, page->standing[at]);
    }
    if (listed.empty()) return;
    const auto generation = session_.generation();
    auto rows = statement();
    // Rows read on another connection may belong to another server.
    if (session_.generation() != generation) return;
    for (Observation& observed : rows) {
      const auto one = listed.find(observed.key());
      if (one != listed.end() && is_of(observed, one->second)) {
        const bool stale = (one->second.flags & peer::StandingLease::kStale) != 0;
        still_.push_back({std::move(observed), stale});
      }
    }
  }

  // Returns each result once per poll.
  std::optional<Still> take() {
    if (page_ns_ == 0) return own_.take();
    if (still_.empty()) return std::nullopt;
    Still first = std::move(still_.front());
    still_.pop_front();
    return first;
  }
  // Whether take() would return one.
  [[nodiscard]] bool any() const { return page_ns_ == 0 ? own_.any() : !still_.empty(); }
  // The last poll used the steward's page.
  [[nodiscard]] bool by_steward() const { return page_ns_ != 0; }
  // Time of the next poll, if something is watched without a steward.
  [[nodiscard]] std::optional<Nanos> next_poll_ns() const {
    if (page_ns_ != 0 || own_.empty()) return std::nullopt;
    return own_.next_poll_ns();
  }

 private:
  template <typename Statement>
  void poll_itself(Statement&& statement) {
    page_ns_ = 0;
    still_.clear();
    if (own_.due()) own_.poll(statement, [this] { return session_.generation(); });
  }
  static bool is_of(const Observation& observed, const peer::StandingLease& listed) {
    return observed.epoch == listed.epoch && observed.expire_at == listed.expire_at;
  }

  process::Session& session_;
  OwnWatch own_;
  Nanos page_ns_ = 0;  // the page that still_ comes from; 0: this worker watches itself
  std::deque<Still> still_;
};

}  // namespace allot::worker
