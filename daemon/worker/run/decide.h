// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "meter/record.h"
#include "plugin_host/handler_call.h"
#include "queue/model/error_text.h"
#include "queue/verbs/cancel_request.h"
#include "queue/verbs/ending.h"
#include "worker/run/failure.h"

namespace allot::worker {

// Facts about a task whose attempt is over, from any source: the answer of its handler, the slot of
// a dead worker, or a lease that is no longer renewed.
struct Facts {
  using Outcome = plugin_host::OutcomeKind;

  Outcome outcome = Outcome::kSuccess;
  std::uint32_t attempt = 1;  // number of the attempt; for kNotBegun the number of charged attempts
  std::uint32_t most = 1;     // attempts that the task may have
  bool in_order = false;      // no task of its partition may overtake it (S16)
  bool stopping = false;      // its worker was asked to stop, or to leave
  // Its handler gave up for a reason that is not the task's fault: an uncertain lease or a failure
  // of the database.
  bool excused = false;
  // The database knows of the attempt: it was written before it ran (S7), or the task was detached.
  bool written = false;
  bool expires = false;  // unless it has begun (A14)
  // Number of earlier attempts with a verdict; nullopt: losses are not counted separately.
  std::optional<std::uint32_t> verdicts{};
  std::uint32_t max_losses = 0;                  // limit of lost attempts
  std::uint32_t unstarted = 0;                   // number of earlier attempts that did not start
  bool crashed_before = false;                   // an earlier attempt of it ended as a crash (S10)
  std::optional<queue::CancelRequest> cancel{};  // request for its end (B11)
  std::optional<std::chrono::microseconds> wanted{};  // retry delay requested by its handler
  std::chrono::microseconds retry_delay{0};           // retry delay by type or queue
  std::string cause{};                                // of the verdict: a word,
  Failure failure{};                                  // and its text
  std::string log{};  // the last lines that its handler logged, if it failed
  queue::Usage usage{};
  std::optional<queue::OnDead> on_dead{};
  std::optional<queue::Record> record{};  // for the history of its queue, if it keeps one
};

// Result for the task. It refers to the facts, which outlive it.
struct Decision {
  // A verdict. kDone: finished by request, or a success; kSnoozed: it runs again later, and nothing
  // is charged.
  meter::Count what = meter::Count::kDone;
  std::optional<queue::Ending> ending{};  // nullopt: there is nothing to write
  std::optional<std::chrono::microseconds>
      partition_wait{};  // its partition waits for it this long (S16)
};

// The group of errors in which it is counted as well; nullopt: it did not fail.
[[nodiscard]] std::optional<queue::ErrorGroup> error_of(const Decision& decision,
                                                        std::uint32_t queue_id,
                                                        std::string_view type);

// Pure: no database, no clock, no configuration. The only place where limits, order, stops and
// cancels are weighed against each other.
[[nodiscard]] Decision decide(const Facts& facts);

}  // namespace allot::worker
