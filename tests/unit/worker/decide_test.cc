// SPDX-License-Identifier: Apache-2.0
// Result for a task whose attempt is over: a table of each rule, and every combination of facts
// against each of them.
// Rule: S63.
#include "worker/run/decide.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "queue/verbs/ending.h"

namespace allot::worker {
namespace {

using std::chrono::seconds;
using Outcome = Facts::Outcome;
using What = meter::Count;
using Verb = queue::Ending::Verb;

std::string word_of(What what) {
  constexpr const char* kWords[] = {"done",        "retried", "put off",
                                    "interrupted", "dead",    "cancelled"};
  return kWords[static_cast<std::size_t>(what)];
}

// "retried: retry in 7, hold 7"
std::string text_of(const Decision& decision) {
  std::string text = word_of(decision.what) + ":";
  if (decision.ending) {
    text += std::string(" ") + queue::name_of(decision.ending->verb);
    if (decision.ending->delay.count() != 0)
      text += " in " + std::to_string(decision.ending->delay / seconds(1));
    if (decision.ending->verdicts)
      text += " verdicts " + std::to_string(*decision.ending->verdicts);
    if (decision.ending->none_ended) text += " unbegun";
    if (decision.ending->begun) text += " begun";
    if (decision.ending->on_dead) text += " with hook";
  } else {
    text += " nothing";
  }
  if (decision.partition_wait)
    text += ", hold " + std::to_string(*decision.partition_wait / seconds(1));
  return text;
}

Facts facts(Outcome outcome) {
  Facts facts;
  facts.outcome = outcome;
  facts.attempt = 2;
  facts.most = 5;
  facts.retry_delay = seconds(7);
  facts.cause = "cause";
  facts.failure.message = "error";
  facts.on_dead = queue::OnDead{"q", "ops", "report"};
  return facts;
}

struct Row {
  const char* words;
  Outcome outcome;
  std::function<void(Facts&)> but;
  const char* expected;
};

const queue::CancelRequest kCancel{"why", "", false};
const queue::CancelRequest kAsDone{"why", "", true};

void plain(Facts& /*facts*/) {}
void last(Facts& facts) {
  facts.attempt = facts.most;
}
void in_order(Facts& facts) {
  facts.in_order = true;
}
void stopping(Facts& facts) {
  facts.stopping = true;
}
void counted(Facts& facts) {
  facts.verdicts = 1;
  facts.max_losses = 3;
}
void crashed(Facts& facts) {
  facts.crashed_before = true;
}

const Row kRows[] = {
    {"a success", Outcome::kSuccess, plain, "done: ack"},
    {"a success although its end was asked for", Outcome::kSuccess,
     [](Facts& facts) { facts.cancel = kCancel; }, "done: ack"},
    {"a failure", Outcome::kRetry, plain, "retried: retry in 7"},
    {"a failure whose handler knows when", Outcome::kRetry,
     [](Facts& facts) { facts.wanted = seconds(9); }, "retried: retry in 9"},
    {"the last failure", Outcome::kRetry, last, "dead: bury with hook"},
    {"a failure of an ordered task", Outcome::kException, in_order, "retried: charge in 7, hold 7"},
    {"a failure while the worker is to stop", Outcome::kException, stopping,
     "interrupted: nothing"},
    {"the same for an ordered task", Outcome::kRetry,
     [](Facts& facts) { facts.stopping = facts.in_order = true; }, "interrupted: nothing, hold 0"},
    {"the same for a recorded task", Outcome::kRetry,
     [](Facts& facts) { facts.stopping = facts.written = true; }, "interrupted: refund begun"},
    {"the same for a task that expires", Outcome::kRetry,
     [](Facts& facts) { facts.stopping = facts.expires = true; }, "interrupted: refund begun"},
    {"the last failure, and not the task's fault", Outcome::kRetry,
     [](Facts& facts) {
       last(facts);
       facts.excused = true;
     },
     "interrupted: nothing"},
    {"no further attempt would help", Outcome::kFail, plain, "dead: bury with hook"},
    {"the same while the worker is to stop", Outcome::kFail, stopping, "dead: bury with hook"},
    {"a snooze", Outcome::kSnooze, [](Facts& facts) { facts.wanted = seconds(9); },
     "put off: snooze in 9"},
    {"a snooze in the last attempt", Outcome::kSnooze, last, "put off: snooze in 7"},
    {"a snooze of an ordered task", Outcome::kSnooze, in_order, "put off: nothing, hold 7"},
    {"the same, written down", Outcome::kSnooze,
     [](Facts& facts) { facts.in_order = facts.written = true; }, "put off: refund begun, hold 7"},
    {"the same, of one that expires", Outcome::kSnooze,
     [](Facts& facts) { facts.in_order = facts.expires = true; }, "put off: refund begun, hold 7"},
    {"a release", Outcome::kRelease, plain, "put off: snooze"},
    {"a release of an ordered task", Outcome::kRelease, in_order, "put off: nothing, hold 0"},
    {"a start that failed", Outcome::kNotStarted, plain, "put off: snooze in 7"},
    {"the same, and the handler knows when", Outcome::kNotStarted,
     [](Facts& facts) { facts.wanted = seconds(9); }, "put off: snooze in 9"},
    {"the same in the last attempt", Outcome::kNotStarted, last, "put off: snooze in 7"},
    {"the same for an ordered task", Outcome::kNotStarted, in_order,
     "put off: refund begun, hold 7"},
    {"the same while the worker is to stop", Outcome::kNotStarted, stopping,
     "interrupted: nothing"},
    {"the last one that is free", Outcome::kNotStarted, [](Facts& facts) { facts.unstarted = 99; },
     "put off: snooze in 7"},
    {"one too many", Outcome::kNotStarted, [](Facts& facts) { facts.unstarted = 100; },
     "retried: retry in 7"},
    {"one too many, in the last attempt", Outcome::kNotStarted,
     [](Facts& facts) {
       last(facts);
       facts.unstarted = 100;
     },
     "dead: bury with hook"},
    {"a start that failed, where verdicts are counted", Outcome::kNotStarted, counted,
     "retried: retry in 7 verdicts 2"},
    {"the first crash", Outcome::kCrash, plain, "retried: charge"},
    {"the first crash of an ordered task", Outcome::kCrash, in_order, "retried: charge"},
    {"a later crash", Outcome::kCrash, crashed, "retried: retry in 7"},
    {"a later crash of an ordered task", Outcome::kCrash,
     [](Facts& facts) { facts.crashed_before = facts.in_order = true; },
     "retried: charge in 7, hold 7"},
    {"a crash in the last attempt", Outcome::kCrash, last, "dead: bury with hook"},
    {"its time limit expired", Outcome::kNotBegun, plain, "dead: bury unbegun with hook"},
    {"its end was asked for", Outcome::kRetry, [](Facts& facts) { facts.cancel = kCancel; },
     "cancelled: bury"},
    {"the same, and it snoozed", Outcome::kSnooze, [](Facts& facts) { facts.cancel = kCancel; },
     "cancelled: bury"},
    {"the same, and its worker died", Outcome::kCrash, [](Facts& facts) { facts.cancel = kCancel; },
     "cancelled: bury"},
    {"the same before it began again", Outcome::kNotBegun,
     [](Facts& facts) { facts.cancel = kCancel; }, "cancelled: bury unbegun"},
    {"a verdict that is counted", Outcome::kRetry, counted, "retried: retry in 7 verdicts 2"},
    {"the last one", Outcome::kFail, counted, "dead: bury verdicts 2 with hook"},
    {"one more than it may have", Outcome::kRetry,
     [](Facts& facts) {
       counted(facts);
       facts.verdicts = facts.most - 1;
     },
     "dead: bury verdicts 5 with hook"},
    {"one while the worker is to stop", Outcome::kRetry,
     [](Facts& facts) {
       counted(facts);
       stopping(facts);
     },
     "retried: retry in 7 verdicts 2"},
    {"what the database failed is none", Outcome::kException,
     [](Facts& facts) {
       counted(facts);
       facts.excused = true;
     },
     "interrupted: nothing"},
    {"a loss where verdicts are counted", Outcome::kCrash, counted, "retried: charge"},
    {"the third loss", Outcome::kCrash,
     [](Facts& facts) {
       counted(facts);
       facts.attempt = 4;
     },
     "retried: charge"},
    {"the fourth loss", Outcome::kCrash,
     [](Facts& facts) {
       counted(facts);
       facts.attempt = 5;
       facts.most = 100;
     },
     "dead: bury with hook"},
    {"completion as done was requested", Outcome::kFail,
     [](Facts& facts) { facts.cancel = kAsDone; }, "done: ack"},
};

TEST(Decide, SaysWhatBecomesOfTheTask) {
  for (const Row& row : kRows) {
    Facts known = facts(row.outcome);
    row.but(known);
    EXPECT_EQ(text_of(decide(known)), row.expected) << row.words;
  }
}

TEST(Decide, TheVerdictFollowsTheFactsOrTheRequestedEnd) {
  Facts known = facts(Outcome::kFail);
  const Decision dead = decide(known);
  EXPECT_EQ(dead.ending->verdict.cause, "cause");
  EXPECT_EQ(dead.ending->verdict.error, "error");
  known.cancel = kCancel;
  const Decision cancelled = decide(known);
  EXPECT_EQ(cancelled.ending->verdict.cause, queue::kCancelled);
  EXPECT_EQ(cancelled.ending->verdict.error, "why");
}

// S75
TEST(Decide, AStartThatFailedIsCountedWithTheTask) {
  Facts known = facts(Outcome::kNotStarted);
  known.unstarted = 41;
  EXPECT_EQ(decide(known).ending->unstarted, 42U);
  known.in_order = true;
  EXPECT_EQ(decide(known).ending->unstarted, 42U);
  known.stopping = true;
  EXPECT_FALSE(decide(known).ending);
  EXPECT_FALSE(decide(facts(Outcome::kSnooze)).ending->unstarted);
}

// All facts that can be known together.
std::vector<Facts> every_combination() {
  std::vector<Facts> all;
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::kNotBegun); ++outcome) {
    for (unsigned bits = 0; bits < 128; ++bits) {
      for (const auto& cancel : {std::optional<queue::CancelRequest>(), std::optional(kCancel),
                                 std::optional(kAsDone)}) {
        Facts one = facts(static_cast<Outcome>(outcome));
        const auto bit = [bits](unsigned number) { return (bits >> number & 1U) != 0; };
        if (bit(0)) one.attempt = one.most;
        one.in_order = bit(1);
        one.stopping = bit(2);
        one.excused = bit(3);
        one.written = bit(4);
        one.crashed_before = bit(5);
        if (bit(6)) one.wanted = seconds(9);
        one.cancel = cancel;
        all.push_back(one);
      }
    }
  }
  return all;
}

bool charges(const Decision& decision) {
  if (!decision.ending || decision.ending->none_ended) return false;
  const Verb verb = decision.ending->verb;
  return verb == Verb::kRetry || verb == Verb::kCharge || verb == Verb::kBury;
}

std::string story(const Facts& known) {
  return std::to_string(static_cast<int>(known.outcome)) + " attempt " +
         std::to_string(known.attempt) + " order " + std::to_string(known.in_order) + " stopping " +
         std::to_string(known.stopping) + " excused " + std::to_string(known.excused) +
         " written " + std::to_string(known.written) + " crashed " +
         std::to_string(known.crashed_before) + " cancel " +
         (!known.cancel           ? "no"
          : known.cancel->as_done ? "as done"
                                  : "yes") +
         " -> " + text_of(decide(known));
}

TEST(Decide, EachRuleHoldsInEveryCombination) {
  for (const Facts& known : every_combination()) {
    SCOPED_TRACE(story(known));
    const Decision decision = decide(known);
    const Outcome outcome = known.outcome;
    const bool unstarted = outcome == Outcome::kNotStarted;
    const bool failed = outcome == Outcome::kRetry || outcome == Outcome::kException || unstarted;
    const bool crash = outcome == Outcome::kCrash;
    const bool deferred = outcome == Outcome::kSnooze || outcome == Outcome::kRelease || unstarted;
    const bool again = decision.what == What::kRetried || decision.what == What::kSnoozed ||
                       decision.what == What::kInterrupted;

    // A success is acknowledged, and nothing else is, except a task whose end as done was
    // requested.
    const bool acked = decision.ending && decision.ending->verb == Verb::kAck;
    EXPECT_EQ(acked, outcome == Outcome::kSuccess || (known.cancel && known.cancel->as_done));
    // A task whose end was requested does not run again, and is not reported by a hook.
    if (known.cancel) {
      EXPECT_FALSE(again);
      EXPECT_FALSE(decision.ending->on_dead);
    }
    // A stop, external causes, or an attempt without failure are not charged.
    if (!known.cancel && ((failed && (known.stopping || known.excused)) || deferred)) {
      EXPECT_FALSE(charges(decision));
      EXPECT_TRUE(again);
    }
    // Attempts are limited: charging the last one is the end.
    if (charges(decision) && known.attempt == known.most) {
      EXPECT_EQ(decision.ending->verb, Verb::kBury);
    }
    // A crash is an attempt, and must always be written: no other process will do it.
    if (crash) {
      EXPECT_TRUE(decision.ending);
      EXPECT_TRUE(charges(decision) || (known.cancel && known.cancel->as_done));
    }
    // In an ordered queue no task gets a later key, and the partition waits for a repeated task,
    // except after a first crash.
    if (known.in_order && decision.ending) {
      EXPECT_NE(decision.ending->verb, Verb::kRetry);
      EXPECT_NE(decision.ending->verb, Verb::kSnooze);
    }
    EXPECT_EQ(decision.partition_wait.has_value(),
              known.in_order && again && !(crash && !known.crashed_before));
    // An attempt known to the database is taken back, unless it is charged or moved.
    if (!decision.ending) {
      EXPECT_FALSE(known.written);
      EXPECT_TRUE(again);
    }
    // Exactly the deaths caused by the task itself are reported.
    EXPECT_EQ(decision.ending && decision.ending->on_dead, decision.what == What::kDead);
    // A task that did not begin is charged nothing.
    if (outcome == Outcome::kNotBegun) {
      EXPECT_FALSE(again);
      EXPECT_FALSE(charges(decision));
    }
  }
}

}  // namespace
}  // namespace allot::worker
