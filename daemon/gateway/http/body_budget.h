// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "gateway/http/complaint.h"
#include "thread/mutex.h"

namespace allot::gateway::http {

// How many bytes of bodies all connections hold together. Any thread may give back.
class BodyBudget {
 public:
  // Of a body no more than this is small.
  static constexpr std::size_t kSmall = std::size_t{64} << 10;

  // Room for it is wanted before it is known how much comes.
  static constexpr std::size_t kOneRead = std::size_t{64} << 10;

  explicit BodyBudget(std::size_t bytes) : bytes_(bytes) {}

  // What a body may have at most, so that it fits if it is alone.
  [[nodiscard]] std::size_t most_of_one(bool anonymous) const {
    return (anonymous ? of_anonymous() : of_large()) - kOneRead;
  }
  // Whether a body that holds `from` may hold `to`; if so, it is counted, else the log says so.
  [[nodiscard]] bool change(std::size_t from, std::size_t to, bool anonymous)
      ALLOT_EXCLUDES(mutex_);
  [[nodiscard]] std::size_t held() const ALLOT_EXCLUDES(mutex_) {
    const MutexLock held(mutex_);
    return held_;
  }

 private:
  // Together; a quarter is for small ones alone.
  [[nodiscard]] std::size_t of_large() const { return bytes_ - bytes_ / 4; }
  [[nodiscard]] std::size_t of_anonymous() const { return bytes_ / 8; }

  const std::size_t bytes_;
  mutable Mutex mutex_;
  std::size_t held_ ALLOT_GUARDED_BY(mutex_) = 0;
  std::size_t anonymous_ ALLOT_GUARDED_BY(mutex_) = 0;  // of held_
  Complaint no_room_ ALLOT_GUARDED_BY(mutex_){};
};

// What one request holds of a budget, until the last who has this is gone.
class BodyHold {
 public:
  BodyHold(std::shared_ptr<BodyBudget> budget, bool anonymous)
      : budget_(std::move(budget)), anonymous_(anonymous) {}
  BodyHold(const BodyHold&) = delete;
  BodyHold& operator=(const BodyHold&) = delete;
  ~BodyHold() { static_cast<void>(resize(0)); }

  // False: there is no room, and it holds what it held. To hold less always goes.
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
