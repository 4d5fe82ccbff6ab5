// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "gateway/http/complaint.h"
#include "log/log.h"
#include "thread/mutex.h"

namespace allot::gateway::http {

// Limits the bytes of bodies that all connections hold together. Any thread may release bytes.
class BodyBudget {
 public:
  // Upper bound of a small body.
  static constexpr std::size_t kSmall = std::size_t{64} << 10;

  // Reserved for a read before its size is known.
  static constexpr std::size_t kOneRead = std::size_t{64} << 10;

  explicit BodyBudget(std::size_t bytes) : bytes_(bytes) {}

  // Size limit of a body that must fit if it is the only one.
  [[nodiscard]] std::size_t most_of_one(bool anonymous) const {
    return (anonymous ? of_anonymous() : of_large()) - kOneRead;
  }
  // Resizes the share of a body from `from` to `to` bytes. False: no room, which is logged.
  [[nodiscard]] bool change(std::size_t from, std::size_t to, bool anonymous)
      ALLOT_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const std::size_t most = to <= kSmall ? bytes_ : of_large();
    const bool fits =
        held_ - from + to <= most && (!anonymous || anonymous_ - from + to <= of_anonymous());
    if (to > from && !fits) {
      if (no_room_.is_due(Complaint::Clock::now())) {
        log::warn("gateway.bodies_refused", {{"bytes", held_}, {"body_bytes", to}});
      }
      return false;
    }
    held_ = held_ - from + to;
    if (anonymous) anonymous_ = anonymous_ - from + to;
    return true;
  }
  [[nodiscard]] std::size_t held() const ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    return held_;
  }

 private:
  // Limit of all large bodies together; a quarter of the budget is reserved for small ones.
  [[nodiscard]] std::size_t of_large() const { return bytes_ - bytes_ / 4; }
  [[nodiscard]] std::size_t of_anonymous() const { return bytes_ / 8; }

  const std::size_t bytes_;
  mutable Mutex mutex_;
  std::size_t held_ ALLOT_GUARDED_BY(mutex_) = 0;
  std::size_t anonymous_ ALLOT_GUARDED_BY(mutex_) = 0;  // part of held_
  Complaint no_room_ ALLOT_GUARDED_BY(mutex_){};
};

// The share of one request in a budget, released by the last owner.
class BodyHold {
 public:
  BodyHold(std::shared_ptr<BodyBudget> budget, bool anonymous)
      : budget_(std::move(budget)), anonymous_(anonymous) {}
  BodyHold(const BodyHold&) = delete;
  BodyHold& operator=(const BodyHold&) = delete;
  ~BodyHold() { static_cast<void>(resize(0)); }

  // False: no room, and the share is unchanged. Shrinking always succeeds.
  [[nodiscard]] bool resize(std::size_t bytes) {
    if (!budget_->change(bytes_, bytes, anonymous_)) return false;
    bytes_ = bytes;
    return true;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const std::shared_ptr<BodyBudget> budget_;
  const bool anonymous_;
  std::size_t bytes_ = 0;
};

}  // namespace allot::gateway::http
