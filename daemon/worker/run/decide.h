// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meter/record.h"
#include "queue/model/fault.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/ending.h"
#include "worker/run/failure.h"

namespace allot::worker {

// What is known about a task whose attempt is over, however this process came to know it: from the
// answer of its handler, from the slot of a dead worker, or from a lease that nobody renews.
struct Facts {
  enum class Outcome {
    kSuccess,     // its handler said so
    kRetry,       // likewise
    kException,   // its handler threw, or what it wrote was lost
    kFail,        // its handler said that no further attempt would help
    kSnooze,      // its handler wants to be called later; this was no failure
    kRelease,     // its handler gives it to another worker; this was no failure
    kNotStarted,  // what its handler starts could not begin
    kCrash,       // its worker, or that one's host, died with it
    kNotBegun,    // there is no attempt to end: its time was over, or its attempts were used up
                  // before
  };

  Outcome outcome = Outcome::kSuccess;
  std::uint32_t attempt = 1;  // the number of the attempt; of kNotBegun how many were charged
  std::uint32_t most = 1;     // attempts that the task may have
  bool in_order = false;      // no task of its partition may overtake it (S16)
  bool stopping = false;      // its worker was asked to stop, or to leave
  // Its handler gave up for a reason that is not the task's: its lease was in doubt, or the
  // database failed it.
  bool excused = false;
  // The database knows of the attempt: it was written before it ran (S7), or the task was detached.
  bool written = false;
  bool expires = false;  // it does while it has not begun (A14)
  // Of the attempts before, so many had a verdict; nullopt: losses are not counted apart.
  std::optional<std::uint32_t> verdicts{};
  std::uint32_t max_losses = 0;                  // likewise: so many attempts may be lost
  std::uint32_t unstarted = 0;                   // of the attempts before, those that did not start
  bool crashed_before = false;                   // an earlier attempt of it ended as a crash (S10)
  std::optional<queue::CancelRequest> cancel{};  // somebody asked for its end (B11)
  std::optional<std::chrono::microseconds> wanted{};  // the pause that its handler asked for
  std::chrono::microseconds pause{0};                 // by the policy of its type or queue
  std::string cause{};                                // of the verdict: a word,
  Failure failure{};                                  // and what it says
  std::string log{};  // the last lines that its handler logged, if it failed
  queue::Usage usage{};
  std::optional<queue::OnDead> on_dead{};
  std::optional<queue::Record> record{};  // for the history of its queue, if it keeps one
};

// What becomes of the task. It refers to the facts, which outlive it.
struct Decision {
  enum class What {
    kFinished,
    kRetried,      // another attempt follows
    kPutOff,       // it runs again later, and nothing is charged
    kInterrupted,  // it runs again, and nothing is charged
    kDead,
    kCancelled,  // dead, because somebody asked for it
    kEnded,      // finished, because somebody asked for it
  };

  What what = What::kFinished;
  std::optional<queue::Ending> ending{};            // nullopt: there is nothing to write
  std::optional<std::chrono::microseconds> hold{};  // so long its partition waits for it (S16)
};

// What is kept of it, if it failed. It refers to the facts.
[[nodiscard]] queue::Verdict verdict_of(const Facts& facts);

// How it is counted.
[[nodiscard]] meter::Count count_of(Decision::What what);

// The group of errors that it is counted in beside that; nullopt: it did not fail.
[[nodiscard]] std::optional<queue::ErrorGroup> error_of(const Decision& decision,
                                                        std::uint32_t queue_id,
                                                        std::string_view type);

// Pure: no database, no clock, no configuration. The only place where limits, order, stops and
// cancels are weighed against each other.
[[nodiscard]] Decision decide(const Facts& facts);

}  // namespace allot::worker
