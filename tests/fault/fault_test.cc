// SPDX-License-Identifier: Apache-2.0
// The short set of seeds. Each case takes less than half a minute; long ones are run by
// scripts/fault.
// Rule: S55.
#include <gtest/gtest.h>

#include <cstdio>

#include "fault/campaign.h"
#include "fault/table.h"

namespace allot::fault {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CampaignResult run(CampaignOptions options, const std::string& name) {
  options.evidence = ALLOT_EVIDENCE_FOLDER "/" + name;
  auto result = run_campaign(options);
  const std::string table = table_of(options, result);
  EXPECT_TRUE(result.clean()) << table << "the evidence is in " << options.evidence;
  EXPECT_GE(result.verdict.acknowledged, least_acknowledged(options.work));
  std::fputs(table.c_str(), stderr);
  return result;
}

TEST(Campaign, WorkersAreKilled) {
  CampaignOptions options;
  options.seed = 1;
  options.length = seconds(8);
  options.mean_pause = milliseconds(100);
  options.weights = only(Kind::kKillWorker);
  EXPECT_GT(run(options, "kills").kills, 30U);
}

CampaignOptions connections_suffer(Wire wire) {
  CampaignOptions options;
  options.wire = wire;
  options.seed = 2;
  options.length = seconds(8);
  options.mean_pause = milliseconds(150);
  options.weights = {};
  for (const Kind kind : {Kind::kWorkerTrouble, Kind::kSubmitTrouble, Kind::kKillConnection})
    options.weights.at(static_cast<std::size_t>(kind)) = 1;
  return options;
}

TEST(Campaign, ConnectionsSuffer) {
  run(connections_suffer(Wire::kPlain), "connections");
}

TEST(Campaign, ConnectionsWithTlsSuffer) {
  run(connections_suffer(Wire::kTls), "tls_connections");
}

TEST(Campaign, HostsDieAndStandStill) {
  CampaignOptions options;
  options.seed = 3;
  options.length = seconds(12);
  options.mean_pause = milliseconds(800);
  options.weights = {};
  for (const Kind kind : {Kind::kStopWorker, Kind::kKillDaemon, Kind::kKillHost, Kind::kStopHost})
    options.weights.at(static_cast<std::size_t>(kind)) = 1;
  run(options, "hosts");
}

// S4: the host that observes a lease of the other one has another TTL, twice as long or half.
TEST(Campaign, EachHostHasItsOwnLeaseTtl) {
  CampaignOptions options;
  options.seed = 9;
  options.length = seconds(12);
  options.mean_pause = milliseconds(800);
  options.other_ttl = milliseconds(1'000);
  options.weights = {};
  for (const Kind kind : {Kind::kStopWorker, Kind::kKillHost, Kind::kStopHost})
    options.weights.at(static_cast<std::size_t>(kind)) = 1;
  run(options, "ttls");
}

TEST(Campaign, TheDatabaseSuffers) {
  CampaignOptions options;
  options.seed = 4;
  options.length = seconds(12);
  options.mean_pause = milliseconds(500);
  options.weights = {};
  for (const Kind kind : {Kind::kKillDatabase, Kind::kReadOnly, Kind::kHoldLease, Kind::kHoldTask,
                          Kind::kDeadlock, Kind::kChangeSchema})
    options.weights.at(static_cast<std::size_t>(kind)) = 1;
  run(options, "database");
}

// S76: stewards are killed and stopped like any worker, and the log that they follow is cut, or
// purged.
TEST(Campaign, TheBinaryLogSuffers) {
  CampaignOptions options;
  options.seed = 10;
  options.length = seconds(12);
  options.mean_pause = milliseconds(300);
  options.wake = true;
  options.per_second = 40;  // few, so that workers sleep at times; otherwise the log is not read
  options.weights = {};
  for (const Kind kind : {Kind::kKillWorker, Kind::kStopWorker, Kind::kKillConnection,
                          Kind::kWorkerTrouble, Kind::kKillDatabase})
    options.weights.at(static_cast<std::size_t>(kind)) = 2;
  EXPECT_GT(run(options, "log").followed, options.hosts) << "no stream began again";
}

// A host comes back while another one has its leases: tasks are slow, so that the other is still
// busy, and a late worker reports retry or fail.
TEST(Campaign, LateWorkersDoNoHarm) {
  CampaignOptions options;
  options.seed = 6;
  options.length = seconds(18);
  options.mean_pause = milliseconds(100);
  options.weights = only(Kind::kStopHost);
  options.spare = true;  // the first host takes over
  options.workers = 8;
  options.work = Work::kLate;
  options.submitters = 3;
  options.per_second = 1;
  // Whether a worker is late depends on the machine, too.
  std::uint64_t overlaps = 0;
  for (int tries = 0; tries < 3 && overlaps == 0; ++tries) {
    overlaps = run(options, "late").verdict.overlaps;
    ++options.seed;
  }
  EXPECT_GT(overlaps, 0U);
}

// One such task, and no other fault.
CampaignOptions poisoned(Work work) {
  CampaignOptions options;
  options.seed = 7;
  options.length = seconds(5);
  options.weights = {};
  options.work = work;
  options.submitters = 1;
  options.max_attempts = 4;  // its neighbours lose some as well
  options.per_second = 100;
  options.drain_limit = seconds(40);
  return options;
}

// Number of runs of each task that died of its crashes.
std::vector<std::uint64_t> runs_of_poison(const Verdict& verdict, bool host) {
  std::vector<std::uint64_t> runs;
  for (const Verdict::Poison& poison : verdict.poison) {
    if (poison.host == host) runs.push_back(poison.runs);
  }
  return runs;
}

// S10: the other tasks all finish, and each crash is exactly one attempt. More such tasks may come
// by chance.
TEST(Campaign, ATaskThatSegfaultsIsBuried) {
  const auto result = run(poisoned(Work::kPoison), "poison");
  const auto runs = runs_of_poison(result.verdict, false);
  EXPECT_FALSE(runs.empty()) << "none was there, or it was not buried";
  for (const std::uint64_t times : runs) EXPECT_EQ(times, 4U);
  EXPECT_EQ(result.verdict.dead_by_attempts, runs.size()) << "a neighbour is dead as well";
}

// S7: the other tasks all finish, and the culprit is found.
TEST(Campaign, ATaskThatKillsItsHostIsBuried) {
  const auto result = run(poisoned(Work::kRazing), "razed");
  EXPECT_GE(result.done("razed"), 4U);
  const auto runs = runs_of_poison(result.verdict, true);
  ASSERT_EQ(runs.size(), 1U) << "none was there, or it was not buried";
  EXPECT_GE(runs.front(), 4U);
  EXPECT_LE(runs.front(), 5U) << "once more than it has attempts: the first could not be charged";
  EXPECT_EQ(result.verdict.dead_by_attempts, 1U + runs_of_poison(result.verdict, false).size());
}

// Submissions with enough disk space succeed; writes without it wait.
TEST(Campaign, TheDiskIsFull) {
  CampaignOptions options;
  options.seed = 8;
  options.length = seconds(8);
  options.mean_pause = milliseconds(1'000);
  options.weights = only(Kind::kFillDisk);
  EXPECT_GT(run(options, "full").done("fill_disk"), 0U);
}

TEST(Campaign, EverythingAtOnce) {
  CampaignOptions options;
  options.seed = 5;
  options.length = seconds(15);
  options.mean_pause = milliseconds(200);
  run(options, "mixed");
}

}  // namespace
}  // namespace allot::fault
