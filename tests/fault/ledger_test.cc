// SPDX-License-Identifier: Apache-2.0
#include "fault/ledger.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

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

TEST(Ledger, AWorkerMayDieOfAStopOrAReloadBeforeItHasAHandlerAndOfNothingElse) {
  Ledger ledger;
  const std::string death = "WARN  supervisor worker.died slot=0 pid=5 ";
  ledger.deaths = {death + "signal=15", death + "signal=1"};
  EXPECT_TRUE(broken_promises(ledger).empty());
  ledger.deaths = {death + "signal=11", death + "exit=78"};
  EXPECT_EQ(broken_promises(ledger).size(), 2U);
}

}  // namespace
}  // namespace allot::fault
