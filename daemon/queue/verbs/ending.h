// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "db/connection.h"
#include "queue/model/compression.h"
#include "queue/model/fence.h"
#include "queue/model/lease.h"
#include "queue/model/task.h"

namespace allot::queue {

// Result of a fenced write. kLost: nothing was written, because another holder has the partition or
// the detached task, or because an earlier try, whose reply was lost, had ended the detached task.
enum class Fenced { kWritten, kLost };

// Whether a write also ends the lease, in the same transaction.
enum class Then { kKeepLease, kRelease };

// The death hook of a queue (C9): submits a task of that type to that queue, in the transaction of
// the burial. If this transaction finds the queue missing or not a spread one, nothing is
// submitted. The death of a task that a hook submitted triggers no hook.
struct OnDead {
  std::string from_queue;
  std::string queue;
  std::string type;
};

// Cause of the end of an attempt, for people: one word, and the error as worker/run/failure.h
// parses it.
struct Verdict {
  std::string_view cause;  // retry, fail, exception, signal, exit, timeout, lease, lost
  std::string_view error;
  Usage usage{};
  std::string_view detail{};
  std::string_view fault{};
  std::string_view log{};  // the last lines logged by its handler
};

// Verdict on an attempt that ended without a report.
inline constexpr Verdict kUnreported{
    "lost", "no verdict was received: its host went down or its lease was lost"};

// Cause of a task that an operator took out.
inline constexpr std::string_view kCancelled = "cancelled";

// Next state of a task after an attempt.
struct Ending {
  enum class Verb {
    kAck,      // finished
    kRetry,    // charged: runs again after `delay`, at most a century
    kCharge,   // charged: may run again where it is (S10); its partition waits for `delay` if the
               // lease also ends (S16)
    kSnooze,   // not charged: runs again after `delay`, after the tasks that are already due
    kRefund,   // not charged: stays where it is; the record of the attempt, if any, is removed
    kSuspect,  // detached, and its worker died with several tasks: not charged, back where it was,
               // and runs alone from then on (kSuspectFlag)
    kBury,     // moves into task_dead, together with `on_dead`
  };

  Verb verb = Verb::kAck;
  std::uint32_t attempt = 0;  // number of the ended attempt, from 1
  std::chrono::microseconds delay{0};
  Verdict verdict{};                // for kRetry, kCharge and kBury
  std::optional<OnDead> on_dead{};  // for kBury
  std::optional<Record> record{};   // for kAck: goes to its queue's history
  // For kRetry, kCharge and kBury, if losses are counted apart (Headers::max_losses): verdicts so
  // far, including this one; nullopt: this end is not a verdict.
  std::optional<std::uint32_t> verdicts{};
  // For kSnooze and kRefund: attempts that did not start, including this one; nullopt: this one
  // started.
  std::optional<std::uint32_t> unstarted{};
  // For kRefund: its handler was called. Known for the other verbs.
  bool begun = false;
  // For kBury: no attempt ended now, and the charged ones stay unchanged.
  bool none_ended = false;
};

// Word in the log.
[[nodiscard]] const char* name_of(Ending::Verb verb);

// Writes the next state of the task, and releases its lease if requested (only for tasks in a
// partition), in one transaction of one trip. May be repeated after a lost reply; throws
// db::DbError. `who` is recorded as where the attempt ran; a detached task has this in its row.
[[nodiscard]] Fenced write(db::Connection& db, const Holder& who, const Fence& fence,
                           const Ending& ending, Then then = Then::kKeepLease);

// Marks tasks under one lease whose handlers were called, if no other statement does: they no
// longer expire (A14), and `suspected` ones run alone from then on (kSuspect). At least one fence.
[[nodiscard]] Fenced mark_called(db::Connection& db, std::span<const Fence> fences, bool suspected,
                                 Then then = Then::kKeepLease);
// Stores `state` as the start of further attempts, while this one continues. kLost also if the task
// is not where the fence says.
[[nodiscard]] Fenced checkpoint(db::Connection& db, const Fence& fence, const StoredState& state);

}  // namespace allot::queue
