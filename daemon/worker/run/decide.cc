// SPDX-License-Identifier: Apache-2.0
// Rule: S63.
#include "worker/run/decide.h"

#include "base/mutant.h"
#include "queue/model/headers.h"

namespace allot::worker {
namespace {

using std::chrono::microseconds;
using Outcome = Facts::Outcome;
using Verb = queue::Ending::Verb;
using What = meter::Count;

// Whether the attempt ended with a verdict that is counted. A stopping worker has no verdict on the
// task, unless the task has an answer: its handler then gave it back by a release.
bool has_verdict(const Facts& facts) {
  return facts.verdicts &&
         (facts.outcome == Outcome::kRetry || facts.outcome == Outcome::kException ||
          facts.outcome == Outcome::kNotStarted || facts.outcome == Outcome::kFail);
}

bool is_used_up(const Facts& facts) {
  if (!facts.verdicts) return facts.attempt >= facts.most;
  if (has_verdict(facts)) return *facts.verdicts + 1 >= facts.most;
  return facts.attempt - *facts.verdicts > facts.max_losses;
}

queue::Ending ending(Verb verb, const Facts& facts) {
  queue::Ending ending{verb, facts.attempt};
  if (has_verdict(facts)) ending.verdicts = *facts.verdicts + 1;
  const Failure& failure = facts.failure;
  ending.verdict = {facts.cause,    failure.message, facts.usage,
                    failure.detail, failure.fault,   facts.log};
  ending.none_ended = facts.outcome == Outcome::kNotBegun;
  return ending;
}

Decision finished(const Facts& facts) {
  queue::Ending ack{Verb::kAck, facts.attempt};
  ack.record = facts.record;
  return {What::kDone, ack};
}

// Final: no further attempt, and no hook.
Decision cancelled(const Facts& facts) {
  if (facts.cancel->as_done) return finished(facts);
  queue::Ending bury = ending(Verb::kBury, facts);
  bury.verdict = {queue::kCancelled, facts.cancel->reason, facts.usage};
  return {What::kCancelled, bury};
}

Decision dead(const Facts& facts) {
  queue::Ending bury = ending(Verb::kBury, facts);
  bury.on_dead = facts.on_dead;
  return {What::kDead, bury};
}

// An attempt that the database does not know was never charged, so there is nothing to undo. If the
// task would expire before its start, the database still has to know that it has begun (A14).
std::optional<queue::Ending> refund(const Facts& facts) {
  if (!facts.written && !facts.expires) return std::nullopt;
  queue::Ending ending{Verb::kRefund, facts.attempt};
  ending.begun = true;
  return ending;
}

// In an ordered queue it stays first in its partition, and no task of its key may overtake it.
Decision interrupted(const Facts& facts) {
  Decision decision{What::kInterrupted, refund(facts)};
  if (facts.in_order) decision.partition_wait = microseconds(0);
  return decision;
}

Decision put_off(const Facts& facts) {
  const bool at_once = facts.outcome == Outcome::kRelease;
  const microseconds wait = at_once ? microseconds(0) : facts.wanted.value_or(facts.retry_delay);
  if (facts.in_order) return {What::kSnoozed, refund(facts), wait};
  return {What::kSnoozed, queue::Ending{Verb::kSnooze, facts.attempt, wait}};
}

// S75: bounded, because a program may be missing permanently. In an ordered queue the task keeps
// its place.
bool is_free(const Facts& facts) {
  return facts.outcome == Outcome::kNotStarted && facts.unstarted < queue::kMostUnstarted &&
         !facts.verdicts && !mutant::removed("unstarted_charged");
}
Decision start_again(const Facts& facts) {
  const microseconds wait = facts.wanted.value_or(facts.retry_delay);
  queue::Ending again{Verb::kSnooze, facts.attempt, wait};
  if (facts.in_order) again = {Verb::kRefund, facts.attempt};
  again.begun = facts.in_order;  // a snooze implies it
  again.unstarted = facts.unstarted + 1;
  return {What::kSnoozed, again, facts.in_order ? std::optional(wait) : std::nullopt};
}

// S10: the first crash is retried at once and in place, because it is mostly the fault of the
// worker or host. In an ordered queue a task always keeps its place.
Decision try_again(const Facts& facts) {
  if (is_used_up(facts)) return dead(facts);
  const bool first_crash = facts.outcome == Outcome::kCrash && !facts.crashed_before;
  if (first_crash) return {What::kRetried, ending(Verb::kCharge, facts)};
  Decision decision{What::kRetried, ending(facts.in_order ? Verb::kCharge : Verb::kRetry, facts)};
  decision.ending->delay = facts.wanted.value_or(facts.retry_delay);
  if (facts.in_order) decision.partition_wait = decision.ending->delay;
  return decision;
}

}  // namespace

std::optional<queue::ErrorGroup> error_of(const Decision& decision, std::uint32_t queue_id,
                                          std::string_view type) {
  const bool failed = decision.what == What::kRetried || decision.what == What::kDead;
  if (!failed || !decision.ending) return std::nullopt;
  const queue::Verdict& verdict = decision.ending->verdict;
  return queue::error_group(queue_id, type, verdict.cause,
                            queue::fault_of(verdict.error, verdict.fault));
}

Decision decide(const Facts& facts) {
  if (facts.outcome == Outcome::kSuccess) return finished(facts);
  if (facts.cancel) return cancelled(facts);
  switch (facts.outcome) {
    case Outcome::kFail:
    case Outcome::kNotBegun:
      return dead(facts);
    case Outcome::kSnooze:
    case Outcome::kRelease:
      return put_off(facts);
    case Outcome::kRetry:
    case Outcome::kException:
    case Outcome::kNotStarted:
      if (facts.excused || (facts.stopping && !has_verdict(facts))) return interrupted(facts);
      return is_free(facts) ? start_again(facts) : try_again(facts);
    case Outcome::kSuccess:
    case Outcome::kCrash:
      break;
  }
  return try_again(facts);
}

}  // namespace allot::worker
