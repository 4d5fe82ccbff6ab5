// SPDX-License-Identifier: Apache-2.0
// The database cost of requests by Fireworq's programs does not grow with the rows, by the server's
// own counters: monitoring requests come every few seconds.
//   ALLOT_TEST_ROWS=10000000: number of jobs that wait, are deferred and have failed
#include <cstdio>
#include <map>

#include "db/gateway/fireworq_fixture.h"
#include "db/gateway/reads.h"

namespace allot::gateway::fireworq {
namespace {

// Three partitions, each with a worker's block.
constexpr char kThreeLeases[] = R"({"max_workers":150})";
constexpr std::uint64_t kMostMore = 100;

class FireworqReadsTest : public FireworqTest {
 protected:
  // Jobs `first` to `last` of each kind: due, due in years, and failed. The due times differ by a
  // millisecond, since a page reads all jobs with the last due time.
  void fill(std::uint64_t first, std::uint64_t last) {
    const std::string queue = value("SELECT queue_id FROM fireworq_queue WHERE name = 'q'");
    each_numbers(first, last, [&](const std::string& from) {
      for (const char* begin : {"0", "(1 << 61)"}) {
        const std::string key = "SELECT " + queue + ", seq MOD 3, 1, " + begin + " + (seq << 22)";
        observer_.execute(
            "INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) " + key +
            R"(, 'fireworq.job', '{"url":"http://a/"}\n')" + from);
        number_them(key + from);
      }
      const std::string dead = "SELECT " + queue + ", seq MOD 3, 1, (1 << 62) + (seq << 22)";
      observer_.execute(
          "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload,"
          " cause, error, died_at) " +
          dead +
          R"(, 1, 'fireworq.job', '{"url":"http://a/"}\n', 'failed', 'failure 500: no',)"
          " UTC_TIMESTAMP(6) - INTERVAL seq SECOND" +
          from);
      number_them(dead + from);
    });
    observer_.execute("ANALYZE TABLE task, task_dead, fireworq_job");
  }
  void number_them(const std::string& keys) {
    observer_.execute("INSERT INTO fireworq_job (queue_id, partition_no, prio, first_key) " + keys);
  }

  struct Cost {
    std::uint64_t rows = 0;
    std::string answer;
  };
  Cost cost_of(const std::string& target) {
    Cost cost;
    cost.rows = rows_read_by(observer_, [&] {
      const Answer answer = send("GET " + target);
      EXPECT_EQ(answer.status, 200) << target << "\n" << answer.body;
      cost.answer = answer.body;
    });
    return cost;
  }
};

std::vector<std::string> targets() {
  std::vector<std::string> all{"/queue/q", "/queues", "/queue/q/stats", "/queues/stats",
                               "/queue/q/job/1"};
  for (const char* list : {"waiting", "grabbed", "deferred", "failed"}) {
    const std::string target = std::string("/queue/q/") + list;
    all.insert(all.end(), {target, target + "?order=asc&limit=1", target + "?limit=1"});
  }
  return all;
}

// The earliest waiting job, and the earliest grabbed one, are the same over few and many.
TEST_F(FireworqReadsTest, DoNotGrowWithTheRows) {
  got("PUT /queue/q", kThreeLeases);
  fill(1, kFewRows);
  observer_.execute(
      "UPDATE q_lock_table SET state = 'LOCKED', lock_by = 1, block_size = 50,"
      " expire_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR");
  std::map<std::string, Cost> few;
  for (const std::string& target : targets()) {
    static_cast<void>(cost_of(target));  // first queries of a connection
    few[target] = cost_of(target);
  }
  fill(kFewRows + 1, many_rows());
  for (const std::string& target : targets()) {
    static_cast<void>(cost_of(target));
    const Cost now = cost_of(target);
    std::printf("%-40s %8llu %8llu\n", target.c_str(),
                static_cast<unsigned long long>(few[target].rows),
                static_cast<unsigned long long>(now.rows));
    EXPECT_LE(now.rows, few[target].rows + kMostMore) << target;
    if (target.ends_with("asc&limit=1")) {
      EXPECT_EQ(now.answer, few[target].answer) << target;
    }
  }
  const json grabbed = got("GET /queue/q/grabbed?order=asc&limit=1");
  EXPECT_EQ(grabbed["jobs"].at(0)["status"], "grabbed");
}

}  // namespace
}  // namespace allot::gateway::fireworq
