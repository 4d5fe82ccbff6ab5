// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "db/connection.h"
#include "queue/model/fence.h"
#include "queue/verbs/block.h"
#include "queue/verbs/deferred.h"
#include "queue/verbs/ending.h"

namespace allot::queue {

// The endings of queue/verbs/ending.h, each under its own name, for tests that end attempts of
// tasks one by one.
class Verbs {
 public:
  explicit Verbs(Holder who = {}) : who_(std::move(who)) {}

  using Verb = Ending::Verb;
  using Pause = std::chrono::microseconds;
  using Hook = std::optional<OnDead>;

  [[nodiscard]] Fenced ack(db::Connection& db, const Fence& fence,
                           const std::optional<Record>& record = std::nullopt) const {
    return write(db, who_, fence, {Verb::kAck, 0, {}, {}, {}, record});
  }
  [[nodiscard]] Fenced retry(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                             Pause delay, const Verdict& verdict,
                             Then then = Then::kKeepLease) const {
    return write(db, who_, fence, {Verb::kRetry, attempt, delay, verdict}, then);
  }
  [[nodiscard]] Fenced charge(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                              const Verdict& verdict, Then then = Then::kKeepLease,
                              Pause pause = Pause(0)) const {
    return write(db, who_, fence, {Verb::kCharge, attempt, pause, verdict}, then);
  }
  // Records an attempt before it runs, as after a loss (S7).
  [[nodiscard]] Fenced announce(db::Connection& db, const Fence& fence,
                                std::uint32_t attempt) const {
    return charge(db, fence, attempt, kUnreported);
  }
  [[nodiscard]] Fenced snooze(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                              Pause delay) const {
    return write(db, who_, fence, {Verb::kSnooze, attempt, delay});
  }
  [[nodiscard]] Fenced refund(db::Connection& db, const Fence& fence, std::uint32_t attempt) const {
    return write(db, who_, fence, {Verb::kRefund, attempt});
  }
  [[nodiscard]] Fenced suspect(db::Connection& db, const Fence& fence,
                               std::uint32_t attempt) const {
    return write(db, who_, fence, {Verb::kSuspect, attempt});
  }
  [[nodiscard]] Fenced bury(db::Connection& db, const Fence& fence, std::uint32_t attempt,
                            const Verdict& verdict, Then then = Then::kKeepLease,
                            const Hook& on_dead = std::nullopt) const {
    return write(db, who_, fence, {Verb::kBury, attempt, {}, verdict, on_dead}, then);
  }
  // All its attempts were charged before.
  [[nodiscard]] Fenced bury_spent(db::Connection& db, const Fence& fence, const Task& task,
                                  const Verdict& verdict,
                                  const Hook& on_dead = std::nullopt) const {
    Ending ending{Verb::kBury, task.attempt, {}, verdict, on_dead};
    ending.none_ended = true;
    return write(db, who_, fence, ending);
  }

 private:
  Holder who_;
};

}  // namespace allot::queue
