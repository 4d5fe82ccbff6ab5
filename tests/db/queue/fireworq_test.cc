// SPDX-License-Identifier: Apache-2.0
// Stored data for Fireworq's programs.
#include <barrier>
#include <chrono>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "db/queue/fixture.h"
#include "queue/fireworq/definition.h"
#include "queue/fireworq/jobs.h"
#include "queue/operate/dead_tasks.h"
#include "queue/operate/limits.h"

namespace allot::queue {
namespace {

class FireworqStoreTest : public QueueTest {
 protected:
  FireworqQueue wanted(const std::string& name, std::uint32_t max_workers = 1) const {
    FireworqQueue queue;
    queue.name = name;
    queue.polling_interval = 200;
    queue.max_workers = max_workers;
    return queue;
  }
  std::optional<FireworqQueue> found(const std::string& name) {
    return find_fireworq(observer_, name);
  }
  FireworqQueue made(const FireworqQueue& queue) {
    put_fireworq(observer_, queue);
    return found(queue.name).value();
  }
  // Submits jobs in one transaction; returns their numbers.
  std::vector<std::uint64_t> push(const QueueInfo& queue, std::size_t count,
                                  std::chrono::seconds delay = std::chrono::seconds(0)) {
    std::vector<Submission> tasks(count, {queue, "fireworq.job", "{}\nx", {}});
    for (Submission& task : tasks) task.options.delay = delay;
    std::vector<std::uint64_t> numbers;
    static_cast<void>(submit(observer_, tasks, number_jobs(numbers)));
    return numbers;
  }
  static std::vector<std::uint64_t> numbers_of(const JobPage& page) {
    std::vector<std::uint64_t> numbers;
    for (const Job& job : page.jobs) numbers.push_back(job.number);
    return numbers;
  }
  std::vector<std::uint64_t> list(const QueueInfo& queue, JobList which, std::size_t limit = 100) {
    return numbers_of(page_jobs(observer_, queue, which, {.latest_first = false, .limit = limit}));
  }
  void bury(const QueueInfo& queue, std::uint64_t number, const std::string& error,
            const std::string& died_at) {
    const Job job = find_job(observer_, queue, number).value();
    const std::string at = " WHERE queue_id = " + std::to_string(queue.queue_id) +
                           " AND run_key = " + std::to_string(job.run_key);
    observer_.execute(
        "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
        "cause, error, died_at) SELECT queue_id, partition_no, prio, run_key, 1, type, payload, "
        "'failed', '" +
        error + "', '" + died_at + "' FROM task" + at);
    observer_.execute("DELETE FROM task" + at);
  }
};

TEST_F(FireworqStoreTest, AQueueIsMadeChangedHiddenAndBroughtBack) {
  FireworqQueue queue = wanted("mail", 65);
  const FireworqQueue first = made(queue);
  EXPECT_EQ(first.info.name, "mail");
  EXPECT_EQ(first.info.partitions(), 2U);
  EXPECT_TRUE(first.says_as(queue));
  queue.max_workers = 200;
  queue.per_second = 2.5;
  queue.burst = 5;
  const FireworqQueue changed = made(queue);
  EXPECT_EQ(changed.info.queue_id, first.info.queue_id);
  EXPECT_EQ(changed.info.partitions(), 4U);
  EXPECT_EQ(changed.per_second, 2.5);
  EXPECT_EQ(value("SELECT CONCAT(per_second + 0, ' ', burst) FROM queue_rate"), "2.500000 5");
  const std::string before = value("SELECT COUNT(*) FROM queue_bucket WHERE charged_at = 0");
  static_cast<void>(made(queue));  // the same again
  EXPECT_EQ(value("SELECT COUNT(*) FROM queue_bucket WHERE charged_at = 0"), before);
  hide_fireworq(observer_, changed);
  EXPECT_TRUE(found("mail")->hidden);
  EXPECT_EQ(list_fireworq(observer_).size(), 1U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_pause WHERE paused = 1"), 1U);
  queue.per_second = 0;
  queue.burst = 0;
  EXPECT_FALSE(made(queue).hidden);
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_pause"), 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_rate"), 0U);
}

// Like two gateways whose clients check for a queue and then create it.
TEST_F(FireworqStoreTest, TwoThatMakeTheSameQueueAtOnceMakeOne) {
  make_queue("q3", 2);  // one name is taken
  constexpr int kQueues = 20;
  constexpr int kGateways = 3;
  std::barrier begin(kGateways);
  std::vector<std::thread> gateways;
  for (std::uint32_t i = 0; i < kGateways; ++i) {
    gateways.emplace_back([&, i] {
      db::Connection db = connect();
      for (int q = 0; q < kQueues; ++q) {
        FireworqQueue queue = wanted("q" + std::to_string(q), 20 + i);
        queue.per_second = 10.0 + i;
        queue.burst = 1 + i;
        begin.arrive_and_wait();
        EXPECT_NO_THROW(put_fireworq(db, queue));
      }
    });
  }
  for (std::thread& gateway : gateways) gateway.join();
  EXPECT_EQ(number("SELECT COUNT(*) FROM fireworq_queue"), kQueues);
  EXPECT_EQ(value("SELECT GROUP_CONCAT(name ORDER BY name) FROM queue WHERE name LIKE '%q%' AND "
                  "queue_id NOT IN "
                  "(SELECT queue_id FROM fireworq_queue)"),
            "q,q3")
      << "none is left that has no definition";
  EXPECT_EQ(
      number("SELECT COUNT(*) FROM fireworq_queue JOIN queue USING (queue_id) JOIN queue_rate "
             "USING (queue_id) WHERE per_second = max_dispatches_per_second AND burst = "
             "max_burst_size AND burst = cap - 19"),
      kQueues)
      << "each is as one of them wanted it";
}

// The pause of a hidden queue ends with the hiding. An operator's pause does not.
TEST_F(FireworqStoreTest, AnOperatorsPauseStays) {
  FireworqQueue queue = wanted("mail");
  queue.per_second = 2;
  queue.burst = 1;
  for (const bool rated : {false, true}) {
    if (!rated) queue.per_second = queue.burst = 0;
    const auto reason = [&] {
      return value("SELECT COALESCE(MAX(reason), '') FROM queue_pause WHERE paused = 1");
    };
    const QueueInfo info = made(queue).info;
    pause(observer_, info, "mine");
    hide_fireworq(observer_, *found("mail"));
    EXPECT_EQ(reason(), "mine");
    made(queue);
    EXPECT_EQ(reason(), "mine");
    resume(observer_, info);
    hide_fireworq(observer_, *found("mail"));
    pause(observer_, info, "mine");
    made(queue);
    EXPECT_EQ(reason(), "mine");
    resume(observer_, info);
    hide_fireworq(observer_, *found("mail"));
    EXPECT_NE(reason(), "");
    made(queue);
    EXPECT_EQ(reason(), "");
    queue.per_second = 2;
    queue.burst = 1;
  }
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_rate"), 1U);
}

// Otherwise clients would see it, but its jobs would not run.
TEST_F(FireworqStoreTest, ItIsHiddenAndPausedOrNeither) {
  const FireworqQueue queue = made(wanted("mail"));
  observer_.execute("RENAME TABLE queue_pause TO queue_pause_gone");
  EXPECT_ANY_THROW(hide_fireworq(observer_, queue));
  observer_.execute("RENAME TABLE queue_pause_gone TO queue_pause");
  EXPECT_FALSE(found("mail")->hidden);
}

TEST_F(FireworqStoreTest, LostReplyIsRetried) {
  const FireworqQueue queue = wanted("mail");
  hide_fireworq(observer_, made(queue));
  observer_.execute("RENAME TABLE queue_pause TO queue_pause_gone");
  EXPECT_ANY_THROW(made(queue));
  observer_.execute("RENAME TABLE queue_pause_gone TO queue_pause");
  EXPECT_TRUE(found("mail")->hidden) << "not before its tasks run";
  EXPECT_FALSE(made(queue).hidden);
  EXPECT_EQ(number("SELECT COUNT(*) FROM queue_pause"), 0U);
}

TEST_F(FireworqStoreTest, AnyNameAndNoQueueOfOthers) {
  const std::string odd = "My::Queue \xff'";
  EXPECT_EQ(made(wanted(odd)).info.name, own_name(odd));
  make_queue("mine", 3);
  const FireworqQueue other = made(wanted("mine"));
  EXPECT_NE(other.info.name, "mine") << "that one belongs to another user";
  EXPECT_EQ(made(wanted("mine", 3)).info.queue_id, other.info.queue_id);
}

// Hash collisions of 64 bits can be constructed.
TEST_F(FireworqStoreTest, TheQueueOfAnotherNameWithTheSameHashIsLeftAlone) {
  made(wanted("odd \xff", 7));
  observer_.execute("UPDATE fireworq_queue SET name = 'other \xff' WHERE queue_id > 0");
  EXPECT_THROW(put_fireworq(observer_, wanted("odd \xff", 9)), Error);
  EXPECT_EQ(value("SELECT MAX(cap) FROM queue"), "7");
  EXPECT_FALSE(observer_.in_transaction());
}

TEST_F(FireworqStoreTest, Routings) {
  put_routing(observer_, {"b", "q2"});
  put_routing(observer_, {"a\xff", "q2"});
  put_routing(observer_, {"b", "q1"});
  const auto routings = list_routings(observer_);
  ASSERT_EQ(routings.size(), 2U);
  EXPECT_EQ(routings[0].queue, "q1");
  EXPECT_EQ(routings[1].category, "a\xff");
  EXPECT_EQ(find_routing(observer_, "b")->queue, "q1");
  remove_routing(observer_, "b");
  EXPECT_FALSE(find_routing(observer_, "b"));
  remove_routing(observer_, "b");
  EXPECT_EQ(list_routings(observer_).size(), 1U);
}

TEST_F(FireworqStoreTest, NumbersComeWithTheTasksOrNotAtAll) {
  const QueueInfo queue = made(wanted("q", 130)).info;
  const auto numbers = push(queue, 50);
  EXPECT_EQ(std::set<std::uint64_t>(numbers.begin(), numbers.end()).size(), 50U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM fireworq_job JOIN task USING (queue_id, partition_no, "
                   "prio) WHERE run_key = fireworq_job.first_key"),
            50U);
  std::vector<Submission> tasks(1, {queue, "fireworq.job", "x", {}});
  std::vector<std::uint64_t> none;
  ExtraStatements twice = number_jobs(none);
  twice.statements = [number = twice.statements](std::span<const Submitted> made) {
    std::vector<db::Statement> statements = number(made);
    statements.push_back(statements.front());
    return statements;
  };
  EXPECT_ANY_THROW(submit(observer_, tasks, twice));
  EXPECT_EQ(number("SELECT COUNT(*) FROM task"), 50U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM fireworq_job"), 50U);
}

TEST_F(FireworqStoreTest, WaitingDeferredAndGrabbed) {
  const QueueInfo queue = made(wanted("q")).info;
  const auto due = push(queue, 5);
  const auto later = push(queue, 2, std::chrono::hours(1));
  EXPECT_EQ(list(queue, JobList::kWaiting), due);
  EXPECT_EQ(list(queue, JobList::kDeferred), later);
  EXPECT_TRUE(list(queue, JobList::kGrabbed).empty());
  FetchSpec spec;
  spec.block_size = 2;
  ASSERT_TRUE(worker_.lease({queue.queue_id, 0}, spec));
  EXPECT_EQ(list(queue, JobList::kGrabbed), std::vector(due.begin(), due.begin() + 2));
  EXPECT_EQ(list(queue, JobList::kWaiting), std::vector(due.begin() + 2, due.end()));
  EXPECT_TRUE(find_job(observer_, queue, due[1])->grabbed);
  EXPECT_FALSE(find_job(observer_, queue, due[2])->grabbed);
  EXPECT_EQ(count_blocks(observer_, queue), (std::map<std::uint32_t, std::uint64_t>{{0, 2}}));
}

TEST_F(FireworqStoreTest, PagesOverPartitionsListEachOnce) {
  const QueueInfo queue = made(wanted("q", 200)).info;
  std::vector<std::uint64_t> all = push(queue, 300);
  for (const std::uint64_t number : push(queue, 17)) all.push_back(number);
  for (const bool back : {false, true}) {
    ListAsk ask{.latest_first = back, .limit = 40};
    std::vector<std::uint64_t> seen;
    for (;;) {
      const JobPage page = page_jobs(observer_, queue, JobList::kWaiting, ask);
      for (const Job& job : page.jobs) seen.push_back(job.number);
      if (!page.next) break;
      ask.from = page.next;
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, all);
  }
  EXPECT_EQ(list(queue, JobList::kWaiting, 1).size(), 1U);
}

TEST_F(FireworqStoreTest, APlaceBeforeAllJobsReadsNone) {
  const QueueInfo queue = made(wanted("q")).info;
  push(queue, 50);
  const auto read = [&] {
    auto results = observer_.execute("SHOW SESSION STATUS LIKE 'Handler_read_prev'");
    return results.front().next().value().u64(1);
  };
  const std::uint64_t before = read();
  ListAsk ask{.latest_first = true, .limit = 40, .from = ListPlace{0, 0}};
  EXPECT_TRUE(page_jobs(observer_, queue, JobList::kWaiting, ask).jobs.empty());
  EXPECT_EQ(read(), before);
  ask.from.reset();
  EXPECT_EQ(page_jobs(observer_, queue, JobList::kWaiting, ask).jobs.size(), 40U);
  EXPECT_GT(read(), before) << "that is what counts rows";
}

TEST_F(FireworqStoreTest, AJobIsFoundWhereItWent) {
  const QueueInfo queue = made(wanted("q")).info;
  const std::uint64_t first = push(queue, 1).front();
  auto block = worker_.lease({queue.queue_id, 0}).value();
  static_cast<void>(block);
  const std::string at = " WHERE queue_id = " + std::to_string(queue.queue_id);
  observer_.execute(
      "INSERT INTO task_moved SELECT queue_id, partition_no, prio, run_key, run_key + "
      "4096000000 FROM task" +
      at);
  observer_.execute(
      "UPDATE task SET first_key = run_key, run_key = run_key + 4096000000, attempt = 1, "
      "headers = 'max_attempts=4\\nmax_losses=3\\nverdicts=1\\n'" +
      at);
  const Job job = find_job(observer_, queue, first).value();
  EXPECT_EQ(job.run_key, job.id.first_key + 4096000000U);
  EXPECT_EQ(job.headers.verdicts, 1U);
  EXPECT_EQ(list(queue, JobList::kGrabbed), (std::vector<std::uint64_t>{}));
  EXPECT_EQ(list(queue, JobList::kDeferred), std::vector{first});
  EXPECT_FALSE(find_job(observer_, queue_, first)) << "of another queue";
  EXPECT_FALSE(find_job(observer_, queue, first + 1));
  EXPECT_FALSE(find_failed(observer_, queue, first));
}

TEST_F(FireworqStoreTest, FailedOnesByTheirDeathOrTheirNumber) {
  const QueueInfo queue = made(wanted("q")).info;
  const auto jobs = push(queue, 3);
  bury(queue, jobs[0], "failure 500: x", "2026-01-01 00:00:02");
  bury(queue, jobs[1], "failure 500: y", "2026-01-01 00:00:01.5");
  bury(queue, jobs[2], "failure 500: z", "2026-01-01 00:00:01.5");
  EXPECT_EQ(numbers_of(page_failed(observer_, queue, {})),
            (std::vector{jobs[0], jobs[2], jobs[1]}));
  EXPECT_EQ(numbers_of(newest_failed(observer_, queue, {})),
            (std::vector{jobs[2], jobs[1], jobs[0]}));
  for (const bool newest : {false, true}) {
    ListAsk ask{.limit = 1};
    std::vector<std::uint64_t> seen;
    for (;;) {
      const JobPage page =
          newest ? newest_failed(observer_, queue, ask) : page_failed(observer_, queue, ask);
      seen.push_back(page.jobs.at(0).number);
      if (!page.next) break;
      ask.from = page.next;
    }
    EXPECT_EQ(seen.size(), 3U);
  }
  const Job failed = find_failed(observer_, queue, jobs[1]).value();
  EXPECT_EQ(failed.error, "failure 500: y");
  EXPECT_EQ(failed.died_ms, 1'767'225'601'500);
  EXPECT_FALSE(find_job(observer_, queue, jobs[1])) << "it is not a job any more";
  EXPECT_EQ(discard_dead(observer_, {&failed.id, 1}), 1U);
  EXPECT_FALSE(find_failed(observer_, queue, jobs[1]));
}

TEST_F(FireworqStoreTest, NumbersAreSweptOnceTheirTasksAreGone) {
  const QueueInfo queue = made(wanted("q")).info;
  const auto jobs = push(queue, 2500);
  bury(queue, jobs[0], "x", "2026-01-01");
  observer_.execute("DELETE FROM task WHERE queue_id = " + std::to_string(queue.queue_id) +
                    " AND run_key % 2 = 0");
  const std::uint64_t left = number("SELECT COUNT(*) FROM task") + 1;
  std::uint64_t after = 0;
  int batches = 1;
  while (sweep_numbers(observer_, after)) ++batches;
  EXPECT_EQ(batches, 3);
  EXPECT_EQ(after, 0U);
  EXPECT_EQ(number("SELECT COUNT(*) FROM fireworq_job"), left);
  EXPECT_TRUE(find_failed(observer_, queue, jobs[0]));
  EXPECT_FALSE(sweep_numbers(observer_, after) && after == 0);
}

TEST_F(FireworqStoreTest, AnAddressHasNoPort) {
  EXPECT_FALSE(own_address(observer_).empty());
  EXPECT_EQ(own_address(observer_).find('@'), std::string::npos);
}

}  // namespace
}  // namespace allot::queue
