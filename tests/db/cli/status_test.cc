// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/posix.h"
#include "db/cli/fixture.h"
#include "ipc/slot.h"
#include "queue/model/task.h"
#include "support/small_disk.h"

namespace allot::cli {
namespace {

using nlohmann::json;

class StatusTest : public CliTest {
 protected:
  StatusTest() {
    must({"migrate"});
    must({"submit", "--ndjson", "-"}, numbered(1, 3) + numbered(4, 8, "wide"));
  }
  json status() { return json::parse(must({"status", "--json"})); }
};

TEST_F(StatusTest, QueuesWithoutADaemon) {
  const std::string text = must({"status"});
  EXPECT_EQ(text,
            "QUEUE    PARTITIONS  WAITING  DETACHED  DEAD\n"
            "default           1        3         0     0\n"
            "wide              8        5         0     0\n"
            "\n"
            "no allotd is running for instance 'default' (" +
                (folder_ / "run") + ")\n");
  const json view = status();
  EXPECT_EQ(view["queues"],
            json::parse(R"([{"name": "default", "partitions": 1, "paused": null, "waiting": 3,
                             "waiting_at_least": false, "detached": 0, "dead": 0,
                             "dead_at_least": false},
                            {"name": "wide", "partitions": 8, "paused": null, "waiting": 5,
                             "waiting_at_least": false, "detached": 0, "dead": 0,
                             "dead_at_least": false}])"));
  EXPECT_EQ(view["instance"]["running"], false);
  EXPECT_EQ(view["instance"]["name"], "default");
  EXPECT_EQ(view["instance"]["runtime_dir"], folder_ / "run");
  EXPECT_EQ(view["workers"], json::array());
}

TEST_F(StatusTest, QueuesHaveTheirPoolsAndDaemonsTheirState) {
  observer_.execute(
      "INSERT INTO instance (origin, host, instance, version, run_id, since, seen_at, write_no,"
      " totals, pools) VALUES"
      " (1, 'a', 'i', '0.1.0', '1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 1, '',"
      "  'p 2 wide'),"
      " (2, 'a', 'i', '0.1.0', '0', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, 1, '',"
      "  NULL),"
      " (3, 'b', 'i', '0.1.0', '1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 600 SECOND, 1,"
      "  '', 'p 2 default'),"
      " (4, 'c', 'i', '0.1.0', '1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 25 HOUR, 1, '',"
      "  NULL)");
  const std::string text = must({"status"});
  EXPECT_TRUE(has(text,
                  "QUEUE    PARTITIONS  WAITING  DETACHED  DEAD  SERVED BY\n"
                  "default           1        3         0     0  no pool\n"
                  "wide              8        5         0     0  p@a\n"))
      << text;
  EXPECT_TRUE(
      has(text, "HOST  INSTANCE  VERSION  STATE    SEEN\na     i         0.1.0    running  "))
      << text;
  EXPECT_TRUE(has(text, "\nb     i         0.1.0    stopped  10 min 0")) << text;
  EXPECT_FALSE(has(text, "\nc     i")) << text;
  const auto unserved = allot({"submit", "default", "t"});
  EXPECT_EQ(unserved.status.code, kExitOk);
  EXPECT_TRUE(has(unserved.err, "warning: no pool of a running daemon serves queue 'default'"));
  EXPECT_EQ(allot({"submit", "wide", "t"}).err, "");
  const std::string id = unserved.out.substr(0, unserved.out.find('\n'));
  EXPECT_TRUE(has(must({"why", id}), "no pool of a running daemon serves queue default"));
  EXPECT_TRUE(has(allot({"doctor"}).out, "queue default: no pool of a running daemon serves it"));
}

TEST_F(StatusTest, DutiesWithAndWithoutALeaderAreShown) {
  EXPECT_EQ(status()["duties"], json::array());
  observer_.execute(
      "INSERT INTO queue_duty (queue_id, duty, free_at, holder, holder_host, holder_instance,"
      " holder_pid, since, last_run, last_error)"
      " SELECT queue_id, 'purge', UTC_TIMESTAMP(6) + INTERVAL 4 SECOND, 7, 'h\n', 'i', 4711,"
      " '2026-01-02 03:04:05', '2026-01-02 03:04:06.5', 'no' FROM queue;"
      "INSERT INTO queue_duty (queue_id, duty, free_at, holder, holder_host, holder_instance,"
      " holder_pid, since) VALUES (0, 'schedules', UTC_TIMESTAMP(6), 8, 'g', 'i', 1, '2026-01-01'),"
      " (0, 'ahead', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, 8, 'g', 'i', 1, '2026-01-01'),"
      " (4711, 'purge', '2025-01-01', NULL, NULL, NULL, NULL, NULL)");
  const auto renew = [&] {
    observer_.execute(
        "UPDATE queue_duty SET free_at = UTC_TIMESTAMP(6) + INTERVAL 5 SECOND WHERE holder = 7");
  };
  renew();
  const std::string text = must({"status"});
  EXPECT_TRUE(has(text,
                  "\n\nduties: 2 led by h\\n/i pid 4711\n"
                  "duties: 3 without a leader: ahead, schedules, #4711/purge\n\nno allotd"))
      << text;
  renew();
  const json duties = status()["duties"];
  ASSERT_EQ(duties.size(), 5U);
  EXPECT_EQ(duties[1], json::parse(R"({"queue": null, "duty": "schedules", "leader": null,
                                      "since": null, "last_run": null, "last_error": null})"));
  EXPECT_EQ(duties[2], json::parse(R"({"queue": "default", "duty": "purge",
                                      "leader": {"host": "h\n", "instance": "i", "pid": 4711},
                                      "since": "2026-01-02T03:04:05.000000Z",
                                      "last_run": "2026-01-02T03:04:06.500000Z",
                                      "last_error": "no"})"));
}

TEST_F(StatusTest, ACountStopsAtItsBound) {
  observer_.execute(
      "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload)"
      " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)"
      " SELECT queue_id, 0, 1, i, 't', '' FROM n, queue WHERE name = 'default'");
  EXPECT_TRUE(has(must({"status"}), "default           1  100000+         0     0\n"));
  const json view = status();
  EXPECT_EQ(view["queues"][0]["waiting"], 100'000);
  EXPECT_EQ(view["queues"][0]["waiting_at_least"], true);
}

// Slot file of a daemon in the supervisor's format, filled by the test.
class WorkersTest : public StatusTest {
 protected:
  WorkersTest() {
    std::filesystem::create_symlink("/bin/sleep", folder_ / "allotd");
    supervisor_ = std::make_unique<support::Process>(Words{folder_ / "allotd", "1000"});
    std::filesystem::create_directory(folder_ / "run");
    const std::size_t size = ipc::slot_offset(kSlots);
    path_ = folder_.write("run/slots", std::string(size, '\0'));
    const UniqueFd file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    bytes_ = static_cast<char*>(map_shared(file.get(), 0, size, true));
    std::memcpy(header().magic, ipc::kSlotMagic, sizeof header().magic);
    header().version = ipc::kSlotVersion;
    header().slot_count = kSlots;
    header().slot_size = sizeof(ipc::Slot);
    header().supervisor_pid = static_cast<std::uint32_t>(supervisor_->pid());
  }

  ipc::SlotFileHeader& header() { return *reinterpret_cast<ipc::SlotFileHeader*>(bytes_); }
  ipc::Slot& slot(std::uint32_t index) {
    return *reinterpret_cast<ipc::Slot*>(bytes_ + ipc::slot_offset(index));
  }
  // A live, idle worker that has done nothing yet.
  ipc::Slot& worker(std::uint32_t index) {
    slot(index).generation = 1;
    slot(index).index = index;
    std::strcpy(slot(index).pool_name, "default");
    slot(index).pid = static_cast<std::uint32_t>(::getpid());
    slot(index).state = static_cast<std::uint32_t>(ipc::WorkerState::kIdle);
    return slot(index);
  }
  ipc::Slot& busy_worker(std::uint32_t index) {
    ipc::Slot& busy = worker(index);
    busy.state = static_cast<std::uint32_t>(ipc::WorkerState::kRunning);
    busy.lease_held = 1;
    busy.queue_id = 7;
    busy.partition_no = 3;
    std::strcpy(busy.queue_name, "mail");
    busy.runs[0].queue_id = 7;
    busy.runs[0].partition_no = 3;
    busy.runs[0].first_key = 4711;
    busy.runs[0].run_key = 4712;
    busy.runs[0].prio = 2;
    busy.runs[0].attempt = 3;
    busy.runs[0].started_ns = boot_ns() - 250 * kMilli;
    std::strcpy(busy.runs[0].queue_name, "mail");
    std::strcpy(busy.runs[0].type, "mail.send");
    for (ipc::RunRecord& run : busy.runs) run.progress = ipc::kNoProgress;
    busy.run_states[0] = ipc::RunState::kRunning;
    busy.tasks_done = 11;
    busy.tasks_retried = 12;
    busy.tasks_dead = 13;
    busy.tasks_deferred = 14;
    busy.takeovers = 15;
    busy.leases_lost = 16;
    busy.deadlocks = 17;
    busy.lock_waits = 18;
    return busy;
  }

  static constexpr std::uint32_t kSlots = 8;
  std::unique_ptr<support::Process> supervisor_;
  std::string path_;
  char* bytes_ = nullptr;
};

TEST_F(WorkersTest, EverythingThatASlotSays) {
  busy_worker(2);
  const json view = status();
  EXPECT_EQ(view["instance"]["running"], true);
  EXPECT_EQ(view["instance"]["supervisor_pid"], supervisor_->pid());
  ASSERT_EQ(view["workers"].size(), 1U) << view;
  json seen = view["workers"][0];
  EXPECT_GE(seen["running"][0]["running_ms"], 250);
  EXPECT_LT(seen["running"][0]["running_ms"], 60'000);
  seen["running"][0].erase("running_ms");
  const json expected = {{"slot", 2},
                         {"pid", ::getpid()},
                         {"pool", "default"},
                         {"state", "running"},
                         {"queue", "mail"},
                         {"partition", 3},
                         {"running", json::array({{{"task", queue::TaskId{{7, 3}, 2, 4711}.text()},
                                                   {"queue", "mail"},
                                                   {"type", "mail.send"},
                                                   {"attempt", 3},
                                                   {"detached", false},
                                                   {"progress", nullptr},
                                                   {"progress_text", nullptr}}})},
                         {"database_unreachable", false},
                         {"done", 11},
                         {"retried", 12},
                         {"dead", 13},
                         {"deferred", 14},
                         {"takeovers", 15},
                         {"leases_lost", 16},
                         {"deadlocks", 17},
                         {"lock_waits", 18}};
  EXPECT_EQ(seen, expected);
}

TEST_F(WorkersTest, TheTableSaysTheSame) {
  busy_worker(2);
  std::strcpy(worker(3).pool_name, "former");
  const std::string text = must({"status"});
  EXPECT_TRUE(has(text, "allotd " + std::to_string(supervisor_->pid()) + ", instance 'default'"));
  EXPECT_TRUE(has(text,
                  "running  mail/3       11       12    13        14         15    16"
                  "         17     18  " +
                      queue::TaskId{{7, 3}, 2, 4711}.text() + " mail.send for "));
  EXPECT_TRUE(has(text, ", attempt 3\n"));
  EXPECT_TRUE(has(text, "idle     -             0        0     0 "));
  EXPECT_TRUE(has(text, " former ")) << "a pool that the configuration does not name any more";
}

TEST_F(WorkersTest, APoolThatCannotStartIsShown) {
  worker(0);
  std::strcpy(header().start_failures[0].pool, "default");
  header().start_failures[0].count = 3;
  header().start_failures[0].wait_status = 78 << 8;
  const std::string line =
      "pool default: workers end before they are ready (exit code 78), 3 times in a row";
  EXPECT_TRUE(has(must({"status"}), line));
  EXPECT_TRUE(has(status()["problems"][0], line));
  EXPECT_TRUE(has(must({"top", "--once"}), line));
  EXPECT_TRUE(has(allot({"doctor"}).out, line.substr(14)));
}

TEST_F(WorkersTest, ADetachedTaskIsMarked) {
  busy_worker(2).run_states[0] = ipc::RunState::kRunningDetached;
  EXPECT_EQ(status()["workers"][0]["running"][0]["detached"], true);
  EXPECT_TRUE(has(must({"status"}), ", attempt 3, detached\n"));
}

TEST_F(WorkersTest, ProgressIsShown) {
  ipc::RunRecord& run = busy_worker(2).runs[0];
  run.progress = 40;
  std::strcpy(run.progress_text, "importing");
  const json seen = status()["workers"][0]["running"][0];
  EXPECT_EQ(seen["progress"], 40);
  EXPECT_EQ(seen["progress_text"], "importing");
  EXPECT_TRUE(has(must({"status"}), ", attempt 3, 40 % importing\n"));
  EXPECT_TRUE(
      has(must({"metrics"}), "allot_worker_progress_percent{pool=\"default\",slot=\"2\"} 40\n"));
  run.progress = 101;
  EXPECT_TRUE(status()["workers"][0]["running"][0]["progress"].is_null());
}

TEST_F(WorkersTest, OnlyWorkersThatLive) {
  worker(0);
  support::Process ended({"true"});
  ASSERT_TRUE(ended.wait());
  worker(1).pid = static_cast<std::uint32_t>(ended.pid());
  worker(2).generation = 0;
  worker(3).state = static_cast<std::uint32_t>(ipc::WorkerState::kBlank);
  worker(4).pid = 0;
  const json view = status();
  ASSERT_EQ(view["workers"].size(), 1U);
  EXPECT_EQ(view["workers"][0]["slot"], 0);
  EXPECT_TRUE(view["workers"][0]["queue"].is_null()) << "no lease";
}

// The memory of another process may contain anything while it changes.
TEST_F(WorkersTest, NonsenseInASlotIsHarmless) {
  ipc::Slot& odd = busy_worker(0);
  odd.state = 4711;
  std::memset(odd.queue_name, 0xff, sizeof odd.queue_name);
  std::memset(odd.runs[0].type, 0x1b, sizeof odd.runs[0].type);
  odd.runs[0].progress = 7;
  std::memset(odd.runs[0].progress_text, 0x1b, sizeof odd.runs[0].progress_text);
  odd.runs[0].started_ns = UINT64_MAX;
  for (auto& run : odd.run_states) run = ipc::RunState::kReturned;
  odd.run_states[1] = static_cast<ipc::RunState>(0xff);
  const json view = status();
  EXPECT_EQ(view["workers"][0]["state"], "unknown");
  EXPECT_EQ(view["workers"][0]["running"].size(), ipc::kMaxRunning - 1);
  EXPECT_EQ(view["workers"][0]["running"][0]["running_ms"], 0);
  EXPECT_EQ(must({"status"}).find('\x1b'), std::string::npos);
}

TEST_F(WorkersTest, WhenTheDatabaseIsAwayTheWorkersAreShown) {
  busy_worker(0);
  configure(server_.socket(), "/nonexistent");
  const auto text = allot({"status"});
  EXPECT_EQ(text.status.code, kExitUnavailable);
  EXPECT_TRUE(has(text.out, "mail/3"));
  EXPECT_TRUE(has(text.err, "allot: the queues cannot be shown: database at socket /nonexistent"));
  const auto done = allot({"status", "--json"});
  EXPECT_EQ(done.status.code, kExitUnavailable);
  const json view = json::parse(done.out);
  EXPECT_TRUE(view["queues"].is_null());
  EXPECT_EQ(view["workers"].size(), 1U);
}

// allotd died, and another process has its pid by now.
TEST_F(WorkersTest, SlotsThatWereLeftBehindAreNotShown) {
  worker(0);
  for (const pid_t pid : {::getpid(), pid_t{0}}) {
    header().supervisor_pid = static_cast<std::uint32_t>(pid);
    EXPECT_EQ(status()["instance"]["running"], false);
    EXPECT_EQ(status()["workers"], json::array());
  }
}

TEST_F(WorkersTest, UnreadableSlotsAreReportedAndTheQueuesShown) {
  const auto expect = [this](const std::string& why) {
    const auto done = allot({"status"});
    EXPECT_EQ(done.status.code, kExitFailure);
    EXPECT_TRUE(has(done.err, "the workers cannot be shown: " + path_ + ": " + why));
    EXPECT_TRUE(has(done.out, "wide "));
  };
  header().version = ipc::kSlotVersion + 1;
  expect("from another version");
  header().version = ipc::kSlotVersion;
  header().slot_size = 1;
  expect("from another version");
  header().magic[0] = 'x';
  expect("not a slot file");
  std::memcpy(header().magic, "allotslt", sizeof header().magic);
  expect("from a pre-release Allot; stop that allotd and start this one\n");
  ASSERT_EQ(::truncate(path_.c_str(), 100), 0);
  expect("not a slot file");
}

TEST_F(WorkersTest, AFileThatEndsEarlyIsReadUpToItsEnd) {
  worker(0);
  worker(1);
  ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(ipc::slot_offset(1) + 100)), 0);
  EXPECT_EQ(status()["workers"].size(), 1U);
}

// Unwritten pages are not allocated, and reading them must not allocate any.
TEST_F(WorkersTest, SlotsWithoutRoomAreReadAllTheSame) {
  const support::SmallDisk disk(1U << 20U);
  if (!disk.trouble().empty()) GTEST_SKIP() << disk.trouble();
  worker(0);
  std::ofstream(disk / "slots") << std::string_view(bytes_, ipc::slot_offset(0) + ipc::kPage);
  std::filesystem::resize_file(disk / "slots", ipc::slot_offset(kSlots));
  configure("\"run\"", "\"" + disk / "" + "\"");
  disk.leave(0);
  EXPECT_EQ(status()["workers"].size(), 1U);
}

}  // namespace
}  // namespace allot::cli
