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

Operation move_of(const std::string& queue, Landed landed) {
  Operation operation;
  operation.act = Act::kMove;
  operation.queue = queue;
  operation.landed = landed;
  return operation;
}

TEST(Ledger, ATaskThatRanBeforeItsMoveAndBehindItHasTwoIds) {
  Ledger ledger = ran_in("1.1", {"default", "other"});
  ledger.operations.push_back(move_of("default", Landed::kMaybe));
  add_operations(ledger);
  EXPECT_EQ(ledger.evidence.renamed, std::set<std::string>{"1.1"});
}

TEST(Ledger, AMoveExplainsNothingElsewhereNorOneThatWasRefused) {
  Ledger ledger = ran_in("1.1", {"fair"});
  ledger.operations.push_back(move_of("default", Landed::kMaybe));
  ledger.operations.push_back(move_of("fair", Landed::kNo));
  add_operations(ledger);
  EXPECT_TRUE(ledger.evidence.renamed.empty());
}

// A task that expired before it was fetched may be among the dead that an operator discarded
// unseen.
TEST(Ledger, MoreThanWeSawIsDiscardedWithWhatMayHaveExpired) {
  Ledger ledger;
  ledger.draw = make_draw(100001);
  ledger.draw.features = {Feature::kExpiry};
  ledger.evidence.replies.push_back({1, 1, 500, Answer::kAcknowledged});
  Operation discard;
  discard.act = Act::kDiscard;
  discard.landed = Landed::kYes;
  ledger.operations = {discard};
  add_operations(ledger);
  EXPECT_TRUE(ledger.evidence.gone.empty());
  ledger.operations.front().chosen = 1;
  add_operations(ledger);
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

TEST(Ledger, AnOrderedCrashIsADeathOfItsWorker) {
  Evidence evidence;
  Trace crash{Mark::kCrash, "default", "id", "1.1", 5, 99, kSecond};
  evidence.traces = {crash};
  add_crashes(evidence);
  ASSERT_EQ(evidence.faults.size(), 1U);
  EXPECT_EQ(evidence.faults[0].pid, 5);
  EXPECT_EQ(evidence.faults[0].kind, "crash");
}

TEST(Ledger, OperatorActionsExplainWhatBecameOfTasks) {
  Ledger ledger = ran_in("1.1", {"default"});
  const auto did = [&ledger](Act act, Landed landed, const std::string& tag) {
    Operation operation;
    operation.act = act;
    operation.tag = tag;
    operation.queue = "default";
    operation.landed = landed;
    if (act == Act::kRetryDead || act == Act::kDiscard)
      operation.tasks = {TaskRow{"id", tag, "default"}};
    operation.chosen = operation.tasks.size();
    ledger.operations.push_back(operation);
  };
  did(Act::kCancel, Landed::kYes, "1.2");
  did(Act::kCancelDone, Landed::kMaybe, "1.3");
  did(Act::kCancel, Landed::kNo, "1.4");
  did(Act::kRetryDead, Landed::kMaybe, "1.5");
  did(Act::kDiscard, Landed::kMaybe, "1.6");
  add_operations(ledger);
  const Evidence& evidence = ledger.evidence;
  EXPECT_EQ(evidence.excused, std::set<std::string>{"1.2"});
  EXPECT_EQ(evidence.gone, (std::set<std::string>{"1.3", "1.6"}));
  EXPECT_EQ(evidence.renamed, std::set<std::string>{"1.5"});
  EXPECT_EQ(evidence.revived.count("1.5"), 1U);
  EXPECT_EQ(evidence.revived.size(), 1U);
}

}  // namespace
}  // namespace allot::fault
