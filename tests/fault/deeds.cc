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
class Deeds {
 public:
  explicit Deeds(const Ledger& ledger)
      : ledger_(ledger),
        evidence_(ledger.evidence),
        attempts_(attempts_in(ledger.evidence.traces)) {
    for (const TaskRow& row : ledger.dead) causes_[row.tag] = row.cause;
    for (const Deed& deed : ledger.deeds) {
      ++named_[deed.tag];
      for (const TaskRow& task : deed.tasks) ++named_[task.tag];
    }
  }

  std::vector<std::string> broken() {
    for (const Deed& deed : ledger_.deeds) {
      const bool cancel = deed.act == Act::kCancel || deed.act == Act::kCancelDone;
      if (deed.landed != Landed::kYes) continue;
      if (deed.act == Act::kPause && !deed.lifts) judge_pause(deed);
      if (!cancel || evidence_.revived.count(deed.tag) != 0) continue;
      if (!deed.may_run) judge_taken_out(deed);
      judge_running(deed);
    }
    return std::move(broken_);
  }

 private:
  void complain(const std::string& what, const std::string& about) {
    broken_.push_back(what + ": " + about);
  }
  static std::string ms(Nanoseconds time) { return std::to_string(time / kMillisecond) + " ms"; }

  // A worker that has a partition continues with it until block_seconds have passed.
  void judge_pause(const Deed& deed) {
    const Nanoseconds from =
        deed.end + std::chrono::nanoseconds(ledger_.draw.longest_block()).count() + kSlack;
    Nanoseconds until = 0;
    for (const Deed& other : ledger_.deeds) {
      if (!other.lifts || other.queue != deed.queue || other.end < deed.begin) continue;
      if (until == 0 || other.begin < until) until = other.begin;
    }
    for (const Trace& trace : evidence_.traces) {
      if (trace.mark != Mark::kStart && trace.mark != Mark::kBeside) continue;
      if (trace.queue != deed.queue || trace.at < from || (until != 0 && trace.at >= until))
        continue;
      if (troubled(evidence_, deed.begin, trace.at) || may_wait_for_its_turn(trace)) continue;
      return complain("it started in a paused queue",
                      trace.tag + " in " + deed.queue + ", " + ms(trace.at - deed.end) + " late");
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
  void judge_taken_out(const Deed& deed) {
    const auto found = attempts_.find(deed.tag);
    if (found == attempts_.end()) return;
    for (const Attempt& each : found->second) {
      if (each.start->at > deed.end) complain("it started behind its cancel", deed.tag);
    }
  }

  // Its end was requested, or it was removed although it had just begun.
  void judge_running(const Deed& deed) {
    const auto found = attempts_.find(deed.tag);
    if (found == attempts_.end()) return;  // it had not begun after all
    const Attempt* running = nullptr;      // the last one that had begun by then
    for (const Attempt& each : found->second) {
      if (each.start->at <= deed.end) running = &each;
    }
    if (running != nullptr) judge_end(deed, *running);
    if (!deed.asked) return;
    judge_again(deed, found->second, running);
    judge_outcome(deed, found->second, running);
  }

  // End of the attempt; nullopt: unknown.
  [[nodiscard]] std::optional<Nanoseconds> over(const Attempt& attempt) const {
    if (attempt.end != nullptr) return attempt.end->at;
    const Nanoseconds killed = killed_after(evidence_, *attempt.start, attempt.start->at);
    return killed != 0 ? std::optional(killed) : std::nullopt;
  }

  // The handler is informed within a second, and killed when its grace period is over.
  void judge_end(const Deed& deed, const Attempt& running) {
    const auto item = item_of(ledger_.draw, deed.tag);
    const bool attentive = item && item->verb == "long";  // it ends as soon as it is informed
    const Nanoseconds within =
        kLook + kSlack +
        (attentive ? 0 : std::chrono::nanoseconds(ledger_.draw.cancel_grace).count());
    if (troubled(evidence_, running.start->at, deed.end + within)) return;
    const auto end = over(running);
    if (!end) return complain("it was cancelled, and did not end", deed.tag);
    if (*end > deed.end + within)
      complain("it ended too late after its cancel", deed.tag + " " + ms(*end - deed.end));
  }

  // Another worker may just have been about to start it.
  void judge_again(const Deed& deed, const std::vector<Attempt>& attempts, const Attempt* running) {
    const auto end = running != nullptr ? over(*running) : std::nullopt;
    const bool was_alive = end && *end > deed.end;
    const Nanoseconds last = was_alive ? *end : deed.end + kSlack;
    for (const Attempt& each : attempts) {
      const Trace& start = *each.start;
      if (start.at <= last || stopped(evidence_, start, deed.begin, start.at)) continue;
      return complain("it started again although its end was asked for", deed.tag);
    }
  }

  // The handler gave up by itself, possibly before its worker saw the request.
  [[nodiscard]] bool unseen(const Deed& deed, const Attempt* running) const {
    if (running == nullptr || running->end == nullptr) return false;
    const Trace& end = *running->end;
    if (end.mark != Mark::kFail && end.mark != Mark::kRetry && end.mark != Mark::kThrow)
      return false;
    return end.at <= deed.end + kLook + kSlack || troubled(evidence_, deed.begin, end.at);
  }

  // The task is dead or done, and no other action on tasks came in between.
  void judge_outcome(const Deed& deed, const std::vector<Attempt>& attempts,
                     const Attempt* running) {
    if (named_.at(deed.tag) != 1) return;
    const bool succeeded = std::any_of(attempts.begin(), attempts.end(), [](const Attempt& each) {
      return each.end != nullptr && each.end->mark == Mark::kSuccess;
    });
    const auto cause = causes_.find(deed.tag);
    const bool dead = cause != causes_.end();
    if (deed.act == Act::kCancelDone) {
      if (dead) complain("it was to end as done, and is dead by " + cause->second, deed.tag);
    } else if (dead && cause->second != "cancelled" && !unseen(deed, running)) {
      complain("its end was asked for, and it is dead by " + cause->second, deed.tag);
    } else if (!dead && !succeeded && evidence_.gone.count(deed.tag) == 0) {
      complain("its end was asked for, and it is neither dead nor done", deed.tag);
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
  return Deeds(ledger).broken();
}

}  // namespace allot::fault
