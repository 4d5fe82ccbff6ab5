// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/rates.h"

namespace allot::cli {

void Rates::update(const InstanceView& view, Nanos now) {
  known_ = updated_ns_ && now > *updated_ns_;
  const double seconds =
      known_ ? static_cast<double>(now - *updated_ns_) / static_cast<double>(kSecond) : 1;
  std::map<Key, Counts> counts;
  rates_.clear();
  for (const WorkerView& worker : view.workers) {
    const Key key{worker.slot, worker.pid};
    const Counts before = before_[key];
    const auto rate = [seconds](std::uint64_t from, std::uint64_t to) {
      return to > from ? static_cast<double>(to - from) / seconds : 0;
    };
    rates_[key] = {rate(before.done, worker.done), rate(before.retried, worker.retried),
                   rate(before.dead, worker.dead)};
    counts[key] = {worker.done, worker.retried, worker.dead};
  }
  before_ = std::move(counts);
  updated_ns_ = now;
}

std::optional<Rate> Rates::of(const WorkerView& worker) const {
  const auto found = rates_.find({worker.slot, worker.pid});
  if (!known_ || found == rates_.end()) return std::nullopt;
  return found->second;
}

std::optional<Rate> Rates::of_all() const {
  if (!known_) return std::nullopt;
  Rate all;
  for (const auto& [key, rate] : rates_) {
    all.done += rate.done;
    all.retried += rate.retried;
    all.dead += rate.dead;
  }
  return all;
}

}  // namespace allot::cli
