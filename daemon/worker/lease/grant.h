// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "base/mutant.h"
#include "queue/model/rate.h"
#include "queue/verbs/lease_store.h"

namespace allot::worker {

// How many tasks of a leased block may start, and until when (A11): the number of starts charged to
// the queue's rate by the statement that fetched them. Without a rate, any number at any time. Only
// the block loop uses it.
class Grant {
 public:
  // Starts that were not used by then are charged again: a worker that was suspended starts nothing
  // on an old grant.
  static constexpr Nanos kLapse = 200 * kMilli;

  Grant() = default;
  // Result of a call that was sent at `sent_ns` (CLOCK_BOOTTIME).
  Grant(const queue::Granted& granted, std::uint32_t queue_id, Nanos sent_ns)
      : granted_(granted), queue_id_(queue_id), sent_ns_(sent_ns), left_(granted.starts) {}

  [[nodiscard]] bool limited() const { return granted_.has_value(); }
  // No task may start at `start_by_ns` or later.
  [[nodiscard]] Nanos start_by_ns() const {
    if (!limited() || mutant::removed("grant_lapse")) return std::numeric_limits<Nanos>::max();
    return sent_ns_ + kLapse;
  }
  [[nodiscard]] bool may_start(Nanos now) const {
    return !limited() || (left_ > 0 && now < start_by_ns());
  }
  // Number of tasks that may start now; at least one after may_start().
  [[nodiscard]] std::size_t left() const {
    return limited() ? left_ : std::numeric_limits<std::size_t>::max();
  }

  void start(std::size_t tasks, Nanos now) {
    if (!limited()) return;
    left_ -= std::min(left_, tasks);
    if (left_ == 0) used_up_ns_ = now;
  }
  // Gives back starts of tasks that did not start.
  void not_started(std::size_t tasks) {
    if (limited()) left_ = std::min<std::size_t>(left_ + tasks, granted_->starts);
  }

  // The block that was fetched with it was as large as requested.
  [[nodiscard]] bool full(std::size_t fetched) const {
    return limited() && fetched >= granted_->asked;
  }
  // Whether another request is useful, by the same answer.
  [[nodiscard]] bool more(Nanos now) const { return may_ask(now) && (!limited() || any()); }
  // The same for a caller that retries until there is one.
  [[nodiscard]] bool may_ask(Nanos now) const {
    if (!limited()) return true;
    // The release gives back what is left when the block is over.
    if (left_ > 0 && now < start_by_ns()) return false;
    return granted_->rated && now >= sent_ns_ + granted_->wait_us * kMicro;
  }

  // The unused starts, to be given back (S43). nullopt: none, or too late.
  [[nodiscard]] std::optional<queue::Unused> unused(Nanos now) const {
    if (!limited() || left_ == 0 || now >= start_by_ns()) return std::nullopt;
    return queue::Unused{queue_id_, granted_->bucket_no, granted_->charged_at,
                         static_cast<std::uint32_t>(left_)};
  }

  // Whether it let any task start.
  [[nodiscard]] bool any() const { return limited() && granted_->starts > 0; }
  // Time until it was used up; nullopt: not used up, though there were tasks for it.
  [[nodiscard]] std::optional<Nanos> used_up_after() const {
    if (!limited() || left_ > 0) return std::nullopt;
    return std::max(used_up_ns_, sent_ns_) - sent_ns_;
  }

 private:
  std::optional<queue::Granted> granted_;
  std::uint32_t queue_id_ = 0;
  Nanos sent_ns_ = 0;
  std::size_t left_ = 0;
  Nanos used_up_ns_ = 0;
};

// A leased partition with its first block, and which of its tasks may start.
struct LeasedBlock {
  queue::Block block;
  Grant grant{};
  std::uint32_t cap_part = 0;  // tasks that may run at a time, in a capped queue; else 0
  bool deferred = false;       // see Offer
};

// How many starts a worker requests at a time: as many as it uses at once. Starts that it requested
// and could not use are lost to the others.
class GrantSize {
 public:
  static constexpr Nanos kSoon = 100 * kMilli;

  [[nodiscard]] std::uint32_t size() const { return size_; }
  // The end of a grant; `most` is the limit of this queue.
  void ended(const Grant& grant, std::uint32_t most) {
    if (!grant.any()) return;
    const auto took = grant.used_up_after();
    size_ = took && *took < kSoon ? size_ * 2 : size_ / 2;
    size_ = std::clamp(size_, 1U, std::max(1U, most));
  }

 private:
  std::uint32_t size_ = 1;
};

}  // namespace allot::worker
