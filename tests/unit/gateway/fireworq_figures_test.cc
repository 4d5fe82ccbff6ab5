// SPDX-License-Identifier: Apache-2.0
// Figures about the workers of this host for Fireworq's programs.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include "gateway/fireworq/figures.h"
#include "ipc/slot.h"
#include "meter/meter.h"
#include "meter/record_file.h"
#include "support/temp_dir.h"

namespace allot::gateway::fireworq {
namespace {

using meter::Count;

class FireworqFigures : public testing::Test {
 protected:
  FireworqFigures() {
    queue_.name = "Mail::Queue";
    queue_.info.name = "fireworq.1";
    queue_.info.queue_id = 7;
    ipc::SlotFileHeader header{};
    std::memcpy(header.magic, ipc::kSlotMagic, sizeof header.magic);
    header.version = ipc::kSlotVersion;
    header.slot_size = sizeof(ipc::Slot);
    header.started_mono_ns = kRun.started_ns;
    header.supervisor_pid = static_cast<std::uint32_t>(kRun.pid);
    std::ofstream(folder_ / "slots", std::ios::binary)
        .write(reinterpret_cast<const char*>(&header), sizeof header);
  }
  void count(Count what, std::uint64_t elapsed_ms = 0, const char* type = "fireworq.job") {
    meter::Record* record = meter::open_record(folder_.path(), 0, kRun);
    if (record == nullptr) throw std::runtime_error("no record");
    meter::Meter meter(*record);
    meter.count(what, queue_.info.name, type, {.elapsed_ms = elapsed_ms});
  }
  static constexpr meter::SupervisorRun kRun{1000, 7};
  support::TempDir folder_;
  queue::FireworqQueue queue_;
};

TEST_F(FireworqFigures, SinceTheGatewayStarted) {
  count(Count::kDone, 5'000);
  Figures figures(folder_.path());
  const auto now = [&] { return figures.of(figures.now(), queue_); };
  EXPECT_EQ(now().pops, 0U) << "that was before";
  EXPECT_EQ(now().elapsed_ms, 0U);
  count(Count::kDone, 120);
  count(Count::kDone, 30);
  count(Count::kRetried);
  count(Count::kDead, 50);
  count(Count::kSnoozed);
  count(Count::kDone, 9'999, "mail.send");  // a category
  figures.pushed(queue_.name);
  const QueueStats stats = now();
  EXPECT_EQ(stats.pushes, 1U);
  EXPECT_EQ(stats.pops, 6U);
  EXPECT_EQ(stats.successes, 3U);
  EXPECT_EQ(stats.failures, 2U) << "the last one, too";
  EXPECT_EQ(stats.permanent_failures, 1U);
  EXPECT_EQ(stats.elapsed_ms, 10'199U);
  queue::FireworqQueue other;
  other.name = other.info.name = "other";
  EXPECT_EQ(figures.of(figures.now(), other).pops, 0U);
}

// S85: a type without its own place in the meter still counts for its queue.
TEST_F(FireworqFigures, AreExactWithMoreCategoriesThanPlaces) {
  Figures figures(folder_.path());
  constexpr std::size_t kCategories = meter::kPairs + 300;
  for (std::size_t i = 0; i < kCategories; ++i) {
    count(Count::kDone, 2, ("category" + std::to_string(i)).c_str());
  }
  const QueueStats stats = figures.of(figures.now(), queue_);
  EXPECT_EQ(stats.pops, kCategories);
  EXPECT_EQ(stats.successes, kCategories);
  EXPECT_EQ(stats.elapsed_ms, 2 * kCategories);
}

TEST_F(FireworqFigures, FiguresOfTheLastSecond) {
  Figures figures(folder_.path());
  const auto now = [&] { return figures.of(figures.now(), queue_); };
  count(Count::kDone);
  count(Count::kRetried);
  figures.pushed(queue_.name);
  EXPECT_EQ(now().pops_per_second, 0U) << "it is not over";
  figures.turn();
  EXPECT_EQ(now().pops_per_second, 2U);
  EXPECT_EQ(now().pushes_per_second, 1U);
  figures.turn();
  EXPECT_EQ(now().pops_per_second, 0U);
  EXPECT_EQ(now().pushes_per_second, 0U);
  EXPECT_EQ(now().pops, 2U);
}

TEST_F(FireworqFigures, WithoutAnInstanceOfThisHost) {
  Figures figures("");
  figures.pushed(queue_.name);
  figures.turn();
  const QueueStats stats = figures.of(figures.now(), queue_);
  EXPECT_EQ(stats.pushes, 1U);
  EXPECT_EQ(stats.pops, 0U);
}

TEST_F(FireworqFigures, FiguresOfRunningJobs) {
  Figures::Now now;
  host::WorkerView worker;
  worker.leases = true;
  worker.queue_id = 7;
  worker.partition = 3;
  worker.running.resize(2);
  now.workers.push_back(worker);
  worker.partition = 1;
  now.workers.push_back(worker);
  worker.queue_id = 8;
  now.workers.push_back(worker);
  worker.queue_id = 7;
  worker.leases = false;
  now.workers.push_back(worker);
  const LocalActivity at_work = local_activity(now, queue_);
  EXPECT_EQ(at_work.partitions, (std::vector<std::uint32_t>{3, 1}));
  EXPECT_EQ(at_work.running, 4U);
}

}  // namespace
}  // namespace allot::gateway::fireworq
