// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "db/connection.h"
#include "queue/model/claim.h"
#include "queue/model/compression.h"
#include "queue/model/hook.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"

namespace allot::queue {

// What became of a fenced write. kLost: nothing was written, because somebody else has the
// partition or the detached task; of a detached task also because an earlier try, whose reply was
// lost, had ended it.
enum class Fenced { kWritten, kLost };

// Whether a write also ends the lease, in the same transaction.
enum class Then { kKeepLease, kRelease };

// Why an attempt ended, for people: a short word, and what worker/run/failure.h makes of its error.
struct Verdict {
  std::string_view cause;  // retry, fail, exception, signal, exit, timeout, lease, lost
  std::string_view error;
  Usage usage{};
  std::string_view detail{};
  std::string_view fault{};
  std::string_view log{};  // the last lines that its handler logged
};

// The verdict on an attempt whose end nobody reported.
inline constexpr Verdict kUnreported{
    "lost", "no verdict came back: its host went down or its lease was lost"};

// The cause of a task that an operator took out.
inline constexpr std::string_view kCancelled = "cancelled";

// What becomes of a task, now that an attempt is over.
struct Ending {
  enum class Verb {
    kAck,     // it has finished
    kRetry,   // charged: it runs again after `delay`, at most a century
    kCharge,  // charged: it may run again where it is (S10); its partition waits for `delay` if the
              // lease ends too (S16)
    kSnooze,  // not charged: it runs again after `delay`, behind what is due already
    kRefund,  // not charged: it stays where it is; an attempt written before it ran is taken back
    kSuspect,  // it was detached, and its worker died with several tasks: not charged, back where
               // it was, and runs alone from then on (kSuspectFlag)
    kBury,     // it moves into task_dead, together with `on_dead`
  };

  Verb verb = Verb::kAck;
  std::uint32_t attempt = 0;  // the number of the attempt that ended, from 1
  std::chrono::microseconds delay{0};
  Verdict verdict{};                // of kRetry, kCharge and kBury
  std::optional<OnDead> on_dead{};  // of kBury
  std::optional<Record> record{};   // of kAck, for its queue's history
  // Of kRetry, kCharge and kBury, where losses are counted apart (Headers::max_losses): so
  // many it has had, with this one; nullopt: this is none.
  std::optional<std::uint32_t> verdicts{};
  // Of kSnooze and kRefund: so many of its attempts did not start, with this one; nullopt: this one
  // did.
  std::optional<std::uint32_t> unstarted{};
  // Of kRefund: its handler was called. Of the others this is known.
  bool begun = false;
  // Of kBury: no attempt ended now, and those that were charged stay as they are.
  bool none_ended = false;
};

// As in the log.
[[nodiscard]] const char* name_of(Ending::Verb verb);

// Writes what becomes of the task, in one transaction of one trip, and the release if asked, which
// is for tasks in a partition only. May be repeated after a lost reply; throws db::DbError. `who`
// is noted as where the attempt ran; of a detached task its row says that.
[[nodiscard]] Fenced write(db::Connection& db, const Holder& who, const Claim& claim,
                           const Ending& ending, Then then = Then::kKeepLease);

// As kSuspect, for tasks under one lease. At least one claim.
[[nodiscard]] Fenced suspect(db::Connection& db, std::span<const Claim> claims, Then then);
// Tasks under one lease whose handlers were called, and which nothing else of their end will say:
// they do not expire any more (A14). At least one claim.
[[nodiscard]] Fenced mark_begun(db::Connection& db, std::span<const Claim> claims);

// Makes further attempts start from `state`, while this one goes on. kLost also where the task is
// in another place than the claim says.
[[nodiscard]] Fenced checkpoint(db::Connection& db, const Claim& claim, const StoredState& state);

}  // namespace allot::queue
