// SPDX-License-Identifier: Apache-2.0
#include "fault/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "fault/work.h"

namespace allot::fault {
namespace {

Ledger ran_in(const std::string& tag, const std::vector<std::string>& queues) {
  Ledger ledger;
  for (const std::string& queue : queues) {
    Trace trace;
    trace.tag = tag;
    trace.queue = queue;
    ledger.evidence.traces.push_back(trace);
  }
  return ledger;
}

Deed move_of(const std::string& queue, Landed landed) {
  Deed deed;
  deed.act = Act::kMove;
  deed.queue = queue;
  deed.landed = landed;
  return deed;
}

TEST(Ledger, ATaskThatRanBeforeItsMoveAndBehindItHasTwoIds) {
  Ledger ledger = ran_in("1.1", {"default", "other"});
  ledger.deeds.push_back(move_of("default", Landed::kMaybe));
  add_deeds(ledger);
  EXPECT_EQ(ledger.evidence.renamed, std::set<std::string>{"1.1"});
}

TEST(Ledger, AMoveExplainsNothingElsewhereNorOneThatWasRefused) {
  Ledger ledger = ran_in("1.1", {"fair"});
  ledger.deeds.push_back(move_of("default", Landed::kMaybe));
  ledger.deeds.push_back(move_of("fair", Landed::kNo));
  add_deeds(ledger);
  EXPECT_TRUE(ledger.evidence.renamed.empty());
}

// A task that expired before it was fetched may be among the dead that an operator discarded
// unseen.
TEST(Ledger, MoreThanWeSawIsDiscardedWithWhatMayHaveExpired) {
  Ledger ledger;
  ledger.draw = make_draw(100001);
  ledger.draw.features = {Feature::kExpiry};
  ledger.evidence.told.push_back({1, 1, 500, Answer::kAcknowledged});
  Deed discard;
  discard.act = Act::kDiscard;
  discard.landed = Landed::kYes;
  ledger.deeds = {discard};
  add_deeds(ledger);
  EXPECT_TRUE(ledger.evidence.gone.empty());
  ledger.deeds.front().chosen = 1;
  add_deeds(ledger);
  EXPECT_FALSE(ledger.evidence.gone.empty());
  for (const std::string& tag : ledger.evidence.gone) {
    EXPECT_NE(item_of(ledger.draw, tag)->expires_in.count(), 0) << tag;
  }
}

TEST(Ledger, TheLogSaysWhichWorkersDied) {
  Ledger ledger;
  add_log(ledger,
          "1970-01-01T00:00:01.100Z INFO  worker worker.ready slot=0 pool=default pid=6\n"
          "1970-01-01T00:00:01.300Z INFO  supervisor worker.ready slot=0 pid=5 start_ms=300\n"
          "1970-01-01T00:00:02.500Z WARN  supervisor worker.kill slot=0 pid=5 reason=\"frozen\"\n"
          "1970-01-01T00:00:02.550Z WARN  supervisor worker.died slot=0 pid=5 signal=9\n"
          "1970-01-01T00:00:03.000Z WARN  supervisor worker.died slot=1 pid=6 signal=1\n");
  ASSERT_EQ(ledger.deaths.size(), 2U);
  EXPECT_EQ(ledger.deaths[0].pid, 5);
  EXPECT_EQ(ledger.deaths[0].at, 2'550 * kMillisecond);
  EXPECT_EQ(ledger.deaths[1].pid, 6);
  ASSERT_EQ(ledger.evidence.faults.size(), 1U);
  EXPECT_EQ(ledger.evidence.faults[0].pid, 5);
  EXPECT_TRUE(ledger.evidence.faults[0].fatal && ledger.evidence.faults[0].inner);
}

TEST(Ledger, ACrashThatWasToldIsADeathOfItsWorker) {
  Evidence evidence;
  Trace crash{Mark::kCrash, "default", "id", "1.1", 5, 99, kSecond};
  evidence.traces = {crash};
  add_crashes(evidence);
  ASSERT_EQ(evidence.faults.size(), 1U);
  EXPECT_EQ(evidence.faults[0].pid, 5);
  EXPECT_EQ(evidence.faults[0].kind, "crash");
}

TEST(Ledger, OperatorsDeedsExplainWhatBecameOfTasks) {
  Ledger ledger = ran_in("1.1", {"default"});
  const auto did = [&ledger](Act act, Landed landed, const std::string& tag) {
    Deed deed;
    deed.act = act;
    deed.tag = tag;
    deed.queue = "default";
    deed.landed = landed;
    if (act == Act::kRetryDead || act == Act::kDiscard)
      deed.tasks = {TaskRow{"id", tag, "default"}};
    deed.chosen = deed.tasks.size();
    ledger.deeds.push_back(deed);
  };
  did(Act::kCancel, Landed::kYes, "1.2");
  did(Act::kCancelDone, Landed::kMaybe, "1.3");
  did(Act::kCancel, Landed::kNo, "1.4");
  did(Act::kRetryDead, Landed::kMaybe, "1.5");
  did(Act::kDiscard, Landed::kMaybe, "1.6");
  add_deeds(ledger);
  const Evidence& evidence = ledger.evidence;
  EXPECT_EQ(evidence.excused, std::set<std::string>{"1.2"});
  EXPECT_EQ(evidence.gone, (std::set<std::string>{"1.3", "1.6"}));
  EXPECT_EQ(evidence.renamed, std::set<std::string>{"1.5"});
  EXPECT_EQ(evidence.revived.count("1.5"), 1U);
  EXPECT_EQ(evidence.revived.size(), 1U);
}

}  // namespace
}  // namespace allot::fault
