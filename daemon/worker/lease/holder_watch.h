// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "peer/look_page.h"
#include "queue/model/expired_holder_watch.h"
#include "worker/process/session.h"

namespace allot::worker {

// What a worker may take over (S4): what the steward of its host saw standing still (S77), or,
// where the steward's page is old or of another server, what the worker sees so itself, beginning
// with nothing seen. Rows are always read by the worker: the page only says which.
template <typename Key, typename Observation>
class HolderWatch {
  using OwnWatch = queue::ExpiredHolderWatch<Key, Observation>;

 public:
  using Still = typename OwnWatch::Still;

  HolderWatch(Session& session, Nanos ttl_ns) : session_(session), own_(ttl_ns) {}

  // Costs one look at the page, unless something stands still there or it cannot be used.
  // `key_of()`: of an entry, if it is one of this kind; `served()`: whether its queue is;
  // `statement()` reads the rows.
  template <typename KeyOf, typename Served, typename Statement>
  void look(KeyOf&& key_of, Served&& served, Statement&& statement) {
    const auto page = session_.steward_look();
    if (!page) return look_alone(statement);
    if (page->looked_ns == page_ns_) return;
    if (page_ns_ == 0) own_.forget();
    page_ns_ = page->looked_ns;
    still_.clear();
    std::map<Key, peer::StandingLease> told;
    for (std::size_t at = 0; at < page->count; ++at) {
      const auto key = key_of(page->standing[at]);
      if (key && served(*key)) told.emplace(*key, page->standing[at]);
    }
    if (told.empty()) return;
    const auto generation = session_.generation();
    auto rows = statement();
    // Read on another connection, they may be those of another server.
    if (session_.generation() != generation) return;
    for (auto& [key, observed] : rows) {
      const auto one = told.find(key);
      if (one != told.end() && is_of(observed, one->second)) {
        const bool stale = (one->second.flags & peer::StandingLease::kStale) != 0;
        still_.push_back({std::move(observed), stale});
      }
    }
  }

  // Each comes once for each look.
  std::optional<Still> take() {
    if (page_ns_ == 0) return own_.take();
    if (still_.empty()) return std::nullopt;
    Still first = std::move(still_.front());
    still_.pop_front();
    return first;
  }
  // Whether take() would have one.
  [[nodiscard]] bool any() const { return page_ns_ == 0 ? own_.any() : !still_.empty(); }
  // The steward's page was used at the last look.
  [[nodiscard]] bool by_steward() const { return page_ns_ != 0; }
  // When to look again, where something is seen and no steward looks.
  [[nodiscard]] std::optional<Nanos> next_look_ns() const {
    if (page_ns_ != 0 || own_.empty()) return std::nullopt;
    return own_.next_look_ns();
  }

 private:
  template <typename Statement>
  void look_alone(Statement&& statement) {
    page_ns_ = 0;
    still_.clear();
    if (own_.due()) own_.look(statement, [this] { return session_.generation(); });
  }
  static bool is_of(const Observation& observed, const peer::StandingLease& told) {
    return observed.epoch == told.epoch && observed.expire_at == told.expire_at;
  }

  Session& session_;
  OwnWatch own_;
  Nanos page_ns_ = 0;  // the look that still_ is of; 0: this worker looks itself
  std::deque<Still> still_;
};

}  // namespace allot::worker
