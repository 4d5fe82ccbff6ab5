// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>

#include "fault/attempts.h"
#include "fault/ledger.h"
#include "fault/work.h"

namespace allot::fault {
namespace {

// Added to documented times, because the machine may be busy.
constexpr Nanoseconds kSlack = 1'500 * kMillisecond;
// Time until a worker has seen that its task must end.
constexpr Nanoseconds kLook = kSecond;

// Promises to operators (docs/cli.md).
class Operations {
 public:
  explicit Operations(const Ledger& ledger)
      : ledger_(ledger),
        evidence_(ledger.evidence),
        attempts_(attempts_in(ledger.evidence.traces)) {
    for (const TaskRow& row : ledger.dead) causes_[row.tag] = row.cause;
    for (const Operation& operation : ledger.operations) {
      ++named_[operation.tag];
      for (const TaskRow& task : operation.tasks) ++named_[task.tag];
    }
  }

  std::vector<std::string> broken() {
    for (const Operation& operation : ledger_.operations) {
      const bool cancel = operation.act == Act::kCancel || operation.act == Act::kCancelDone;
      if (operation.landed != Landed::kYes) continue;
      if (operation.act == Act::kPause && !operation.lifts) judge_pause(operation);
      if (!cancel || evidence_.revived.count(operation.tag) != 0) continue;
      if (!operation.may_run) judge_taken_out(operation);
      judge_running(operation);
    }
    return std::move(broken_);
  }

 private:
  void complain(const std::string& what, const std::string& about) {
    broken_.push_back(what + ": " + about);
  }
  static std::string ms(Nanoseconds time) { return std::to_string(time / kMillisecond) + " ms"; }

  // A worker that has a partition continues with it until block_seconds have passed.
  void judge_pause(const Operation& operation) {
    const Nanoseconds from =
        operation.end + std::chrono::nanoseconds(ledger_.draw.longest_block()).count() + kSlack;
    Nanoseconds until = 0;
    for (const Operation& other : ledger_.operations) {
      if (!other.lifts || other.queue != operation.queue || other.end < operation.begin) continue;
      if (until == 0 || other.begin < until) until = other.begin;
    }
    for (const Trace& trace : evidence_.traces) {
      if (trace.mark != Mark::kStart && trace.mark != Mark::kBeside) continue;
      if (trace.queue != operation.queue || trace.at < from || (until != 0 && trace.at >= until))
        continue;
      if (troubled(evidence_, operation.begin, trace.at) || may_wait_for_its_turn(trace)) continue;
      return complain("it started in a paused queue", trace.tag + " in " + operation.queue + ", " +
                                                          ms(trace.at - operation.end) + " late");
    }
  }
  // A suspect that was charged before waits up to 10 s for other tasks of its daemon, after its
  // worker has checked the time.
  [[nodiscard]] bool may_wait_for_its_turn(const Trace& start) const {
    return start.attempt > 1 &&
           std::any_of(evidence_.faults.begin(), evidence_.faults.end(),
                       [&](const Fault& fault) { return fault.fatal && fault.begin < start.at; });
  }

  // A task that was removed before it was fetched does not start.
  void judge_taken_out(const Operation& operation) {
    const auto found = attempts_.find(operation.tag);
    if (found == attempts_.end()) return;
    for (const Attempt& each : found->second) {
      if (each.start->at > operation.end) complain("it started behind its cancel", operation.tag);
    }
  }

  // Its end was requested, or it was removed although it had just begun.
  void judge_running(const Operation& operation) {
    const auto found = attempts_.find(operation.tag);
    if (found == attempts_.end()) return;  // it had not begun after all
    const Attempt* running = nullptr;      // the last one that had begun by then
    for (const Attempt& each : found->second) {
      if (each.start->at <= operation.end) running = &each;
    }
    if (running != nullptr) judge_end(operation, *running);
    if (!operation.asked) return;
    judge_again(operation, found->second, running);
    judge_outcome(operation, found->second, running);
  }

  // End of the attempt; nullopt: unknown.
  [[nodiscard]] std::optional<Nanoseconds> over(const Attempt& attempt) const {
    if (attempt.end != nullptr) return attempt.end->at;
    const Nanoseconds killed = killed_after(evidence_, *attempt.start, attempt.start->at);
    return killed != 0 ? std::optional(killed) : std::nullopt;
  }

  // The handler is informed within a second, and killed when its grace period is over.
  void judge_end(const Operation& operation, const Attempt& running) {
    const auto item = item_of(ledger_.draw, operation.tag);
    const bool attentive = item && item->verb == "long";  // it ends as soon as it is informed
    const Nanoseconds within =
        kLook + kSlack +
        (attentive ? 0 : std::chrono::nanoseconds(ledger_.draw.cancel_grace).count());
    if (troubled(evidence_, running.start->at, operation.end + within)) return;
    const auto end = over(running);
    if (!end) return complain("it was cancelled, and did not end", operation.tag);
    if (*end > operation.end + within)
      complain("it ended too late after its cancel",
               operation.tag + " " + ms(*end - operation.end));
  }

  // Another worker may just have been about to start it.
  void judge_again(const Operation& operation, const std::vector<Attempt>& attempts,
                   const Attempt* running) {
    const auto end = running != nullptr ? over(*running) : std::nullopt;
    const bool was_alive = end && *end > operation.end;
    const Nanoseconds last = was_alive ? *end : operation.end + kSlack;
    for (const Attempt& each : attempts) {
      const Trace& start = *each.start;
      if (start.at <= last || stopped(evidence_, start, operation.begin, start.at)) continue;
      return complain("it started again although its end was asked for", operation.tag);
    }
  }

  // The handler gave up by itself, possibly before its worker saw the request.
  [[nodiscard]] bool unseen(const Operation& operation, const Attempt* running) const {
    if (running == nullptr || running->end == nullptr) return false;
    const Trace& end = *running->end;
    if (end.mark != Mark::kFail && end.mark != Mark::kRetry && end.mark != Mark::kThrow)
      return false;
    return end.at <= operation.end + kLook + kSlack || troubled(evidence_, operation.begin, end.at);
  }

  // The task is dead or done, and no other action on tasks came in between.
  void judge_outcome(const Operation& operation, const std::vector<Attempt>& attempts,
                     const Attempt* running) {
    if (named_.at(operation.tag) != 1) return;
    const bool succeeded = std::any_of(attempts.begin(), attempts.end(), [](const Attempt& each) {
      return each.end != nullptr && each.end->mark == Mark::kSuccess;
    });
    const auto cause = causes_.find(operation.tag);
    const bool dead = cause != causes_.end();
    if (operation.act == Act::kCancelDone) {
      if (dead) complain("it was to end as done, and is dead by " + cause->second, operation.tag);
    } else if (dead && cause->second != "cancelled" && !unseen(operation, running)) {
      complain("its end was asked for, and it is dead by " + cause->second, operation.tag);
    } else if (!dead && !succeeded && evidence_.gone.count(operation.tag) == 0) {
      complain("its end was asked for, and it is neither dead nor done", operation.tag);
    }
  }

  const Ledger& ledger_;
  const Evidence& evidence_;
  Attempts attempts_;
  std::map<std::string, std::string> causes_;  // of deaths, by tag
  std::map<std::string, unsigned> named_;      // number of actions that may have touched a task
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_by_operators(const Ledger& ledger) {
  return Operations(ledger).broken();
}

}  // namespace allot::fault
