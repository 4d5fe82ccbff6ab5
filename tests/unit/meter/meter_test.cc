// SPDX-License-Identifier: Apache-2.0
#include "meter/meter.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "ipc/slot.h"
#include "meter/record_file.h"
#include "meter/totals.h"
#include "support/process.h"
#include "support/temp_dir.h"

namespace allot::meter {
namespace {

std::uint64_t counted(const Record& record, Count what, const std::string& type) {
  std::uint64_t all = 0;
  for (const Pair& pair : record.pairs) {
    if (pair.type == type) all += pair.counts[static_cast<std::size_t>(what)];
  }
  return all;
}

std::size_t pairs_named(const Record& record) {
  std::size_t named = 0;
  for (const Counter& hash : record.hashes) named += hash.load() != 0 ? 1U : 0U;
  return named;
}

// A runtime folder with slots of one run of allotd.
class MeterTest : public testing::Test {
 protected:
  MeterTest() { begin({1000, 7}); }

  void begin(const SupervisorRun& run) {
    run_ = run;
    ipc::SlotFileHeader header{};
    std::memcpy(header.magic, ipc::kSlotMagic, sizeof header.magic);
    header.version = ipc::kSlotVersion;
    header.slot_size = sizeof(ipc::Slot);
    header.started_mono_ns = run.started_ns;
    header.supervisor_pid = static_cast<std::uint32_t>(run.pid);
    std::ofstream(folder_ / "slots", std::ios::binary)
        .write(reinterpret_cast<const char*>(&header), sizeof header);
  }
  [[nodiscard]] Record& record(std::uint32_t slot = 0) const {
    Record* made = open_record(folder_.path(), slot, run_);
    if (made == nullptr) throw std::runtime_error("no record");
    return *made;
  }
  [[nodiscard]] std::string file(std::uint32_t slot) const {
    return folder_ / ("meters/" + std::to_string(slot));
  }

  support::TempDir folder_;
  SupervisorRun run_;
};

TEST_F(MeterTest, TheNextWorkerContinues) {
  Meter(record()).count(Count::kDone, "mail", "a", Took{3 * kMilli, 40 * kMilli, 40});
  Meter(record()).count(Count::kDone, "mail", "a", Took{20'000 * kSecond, 0, 2});
  Meter(record(1)).count(Count::kDead, "mail", "a", Took{.elapsed_ms = 1});
  EXPECT_EQ(totals(folder_.path()).pairs.at({"mail", "a"}).elapsed_ms, 43U);
  const auto records = read_records(folder_.path());
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(counted(*records[0], Count::kDone, "a"), 2U);
  EXPECT_EQ(counted(*records[1], Count::kDead, "a"), 1U);
  for (const Pair& pair : records[0]->pairs) {
    if (std::string(pair.type) != "a") continue;
    EXPECT_EQ(pair.buckets[0], 0U);
    EXPECT_EQ(pair.buckets[2], 1U) << "up to 5 ms";
    EXPECT_EQ(pair.buckets[kBucketsMs.size()], 1U) << "longer than the last bound";
    EXPECT_EQ(pair.waits[5], 1U) << "up to 50 ms";
    EXPECT_EQ(pair.waits[0], 1U);
    EXPECT_EQ(pair.ran_us, 20'000'003'000U);
  }
}

TEST_F(MeterTest, AnotherRunCountsFromZero) {
  Meter(record()).count(Count::kDone, "mail", "a");
  begin({2000, 7});
  EXPECT_TRUE(read_records(folder_.path()).empty()) << "its slot is not taken yet";
  Meter(record()).count(Count::kDone, "mail", "b");
  const auto records = read_records(folder_.path());
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(counted(*records[0], Count::kDone, "a"), 0U);
  EXPECT_EQ(counted(*records[0], Count::kDone, "b"), 1U);
}

TEST_F(MeterTest, AnotherLayoutAndWhatIsNoneArePassedOver) {
  Meter(record()).count(Count::kDone, "mail", "a");
  record(1).head.version = kVersion + 1;
  static_cast<void>(record(2));
  std::filesystem::resize_file(file(2), 100);
  std::ofstream(file(3)) << "something else";
  EXPECT_EQ(read_records(folder_.path()).size(), 1U);
  for (const std::uint32_t slot : {1U, 2U, 3U}) {
    Meter(record(slot)).count(Count::kDone, "mail", "a");
    EXPECT_EQ(counted(record(slot), Count::kDone, "a"), 1U) << slot;
  }
  EXPECT_EQ(read_records(folder_.path()).size(), 4U);
}

TEST_F(MeterTest, TypeWithoutAPlaceIsOther) {
  Record& own = record();
  Meter meter(own);
  for (int i = 0; i < 10'000; ++i) meter.count(Count::kDone, "mail", "t" + std::to_string(i));
  EXPECT_EQ(pairs_named(own), kPairs + 1);
  EXPECT_EQ(counted(own, Count::kDone, kOther), 10'000 - kPairs);
  meter.count(Count::kDone, "mail", "t0");
  EXPECT_EQ(counted(own, Count::kDone, "t0"), 2U) << "a type with a place keeps it";
}

// S85: a type without a place counts in the rest of its queue, as long as there are places for
// rests.
TEST_F(MeterTest, TheSumOfEachQueueIsExactBeyondItsPlaces) {
  constexpr std::size_t kQueues = kQueueRests + 10;
  constexpr std::size_t kTypes = 2'000;
  Meter meter(record());
  const auto queue_of = [](std::size_t i) { return "q" + std::to_string(i); };
  for (std::size_t type = 0; type < kTypes; ++type) {
    for (std::size_t queue = 0; queue < 3; ++queue) {
      meter.count(Count::kDone, queue_of(queue), "t" + std::to_string(type));
    }
  }
  for (std::size_t queue = 3; queue < kQueues; ++queue) {
    meter.count(Count::kDone, queue_of(queue), "t");
  }
  std::map<std::string, std::uint64_t> sums;
  for (const auto& [names, total] : totals(folder_.path()).pairs) {
    sums[names.first] += total.of(Count::kDone);
  }
  for (std::size_t queue = 0; queue < 3; ++queue) EXPECT_EQ(sums[queue_of(queue)], kTypes);
  EXPECT_EQ(sums[kOther], 10U) << "of the queues without a place for their rest";
  EXPECT_EQ(sums.size(), kQueueRests + 1);
}

TEST_F(MeterTest, GroupsOfErrorsAreCountedAndBounded) {
  Meter meter(record());
  for (int i = 0; i < 1'000; ++i) {
    meter.count_error(Count::kRetried, {"mail", "t", "group" + std::to_string(i), "retry: no"});
  }
  Meter(record(1)).count_error(Count::kDead, {"mail", "t", "group0", std::string(500, 'x')});
  const Totals all = totals(folder_.path());
  EXPECT_EQ(all.errors.size(), kErrors + 1);
  EXPECT_EQ(all.errors.at({"mail", "t", "group0"}).retried, 1U);
  EXPECT_EQ(all.errors.at({"mail", "t", "group0"}).dead, 1U);
  EXPECT_EQ(all.errors.at({"mail", "t", "group1"}).sample, "retry: no");
  EXPECT_EQ(all.errors.at({kOther, kOther, kOther}).retried, 1'000 - kErrors);
  EXPECT_EQ(all.errors.at({"mail", "t", "group0"}).sample, std::string(kSampleSize - 1, 'x'));
}

TEST_F(MeterTest, NamesAreCutAndNotMixedUp) {
  Record& own = record();
  Meter meter(own);
  meter.count(Count::kDone, "ab", "c");
  meter.count(Count::kDone, "a", "bc");
  meter.count(Count::kDone, std::string(500, 'q'), std::string(500, 't'));
  meter.count(Count::kDone, "", "");
  EXPECT_EQ(pairs_named(own), 4U);
  EXPECT_EQ(counted(own, Count::kDone, std::string(kMaxTypeName, 't')), 1U);
}

TEST_F(MeterTest, ThreadsCountTogether) {
  Record& own = record();
  Meter meter(own);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&meter] {
      for (int i = 0; i < 2'000; ++i) {
        meter.count(Count::kDone, "mail", "t" + std::to_string(i % 40), Took{kMilli});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pairs_named(own), 40U);
  EXPECT_EQ(counted(own, Count::kDone, "t0"), 200U);
}

// A worker that is killed while it counts leaves whole names, each once.
TEST_F(MeterTest, ADeathAtAnyMomentLeavesWholeNames) {
  for (std::uint32_t slot = 0; slot < 20; ++slot) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t worker = fork();
    if (worker == 0) {
      Meter meter(record(slot));
      (void)!write(ends[1], "x", 1);
      for (unsigned i = 0;; ++i) {
        meter.count(Count::kDone, "mail", "type" + std::to_string(i % 1000));
      }
    }
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1);
    support::send_signal(worker, SIGKILL);
    waitpid(worker, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    Record& left = record(slot);
    std::set<std::string> names;
    for (std::size_t i = 0; i < kPlaces; ++i) {
      if (left.hashes[i] == 0) continue;
      EXPECT_EQ(std::string(left.pairs[i].queue), "mail");
      const std::string type = left.pairs[i].type;
      EXPECT_TRUE(type.starts_with("type") || type == kOther) << type;
      EXPECT_TRUE(names.insert(left.pairs[i].type).second);
    }
    Meter(left).count(Count::kDone, "mail", "type1");
  }
}

TEST_F(MeterTest, TheNextGatewayContinues) {
  const auto answered = [this]() -> Counter& {
    RequestRecord* record = open_requests(folder_.path(), run_);
    if (record == nullptr) throw std::runtime_error("no record");
    return record->routes[3].answers[1];
  };
  ++answered();
  ++answered();
  EXPECT_EQ(answered(), 2U);
  EXPECT_TRUE(read_records(folder_.path()).empty()) << "it is not a slot's";
  begin({2000, 7});
  EXPECT_EQ(run_in(folder_.path()), run_);
  EXPECT_EQ(answered(), 0U) << "another run";
  ++answered();
  open_requests(folder_.path(), run_)->head.version = kRequestVersion + 1;
  EXPECT_EQ(answered(), 0U) << "another layout";
}

TEST_F(MeterTest, AGatewayByItselfHandsItsCountsOn) {
  const UniqueFd file(memfd_create("counts", MFD_CLOEXEC));
  const auto answered = [&]() -> Counter& {
    RequestRecord* record = open_requests(file.get());
    if (record == nullptr) throw std::runtime_error("no record");
    return record->routes[3].answers[1];
  };
  ++answered();
  EXPECT_EQ(++answered(), 2U);
  open_requests(file.get())->head.version = kRequestVersion + 1;
  EXPECT_EQ(answered(), 0U) << "another layout";
  EXPECT_EQ(open_requests(-1), nullptr);
}

TEST_F(MeterTest, WithoutAFolderThereIsNone) {
  EXPECT_EQ(open_record("/nowhere", 0, run_), nullptr);
  EXPECT_EQ(open_requests("/nowhere", run_), nullptr);
  EXPECT_TRUE(read_records("/nowhere").empty());
}

}  // namespace
}  // namespace allot::meter
