// SPDX-License-Identifier: Apache-2.0
// What each look costs the database does not grow with its rows, by the server's own counters.
//   ALLOT_TEST_ROWS=10000000: in each of the tables of tasks
#include "db/gateway/reads.h"

#include <cstdio>
#include <map>

#include "db/gateway/fixture.h"

namespace allot::gateway::api {
namespace {

// A look at 10,000 rows at most, page by page, begins one page more to see whether there are more.
constexpr std::uint64_t kOnePage = 1'100;

class ReadsTest : public GatewayTest {
 protected:
  // Tasks that wait, run, are dead and are done: rows `first` to `last` of each, over the four
  // partitions.
  void fill(std::uint64_t first, std::uint64_t last) {
    const std::string queue = value("SELECT queue_id FROM queue WHERE name = 'mail'");
    each_numbers(first, last, [&](const std::string& from) {
      const std::string key = "SELECT " + queue + ", seq MOD 4, 1, seq";
      look_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) " +
                    key + ", 'a', ''" + from);
      look_.execute(
          "INSERT INTO task_running (queue_id, partition_no, prio, first_key, run_key, attempt, "
          "flags, type, payload, epoch, lock_by, lock_origin, lock_host, lock_instance, lock_pid, "
          "expire_at, detached_at) " +
          key +
          ", seq, 1, 0, 'a', '', 1, 1, 1, 'h', 'i', 1, UTC_TIMESTAMP(6) + INTERVAL 1 HOUR,"
          " UTC_TIMESTAMP(6)" +
          from);
      look_.execute(
          "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
          "cause, error, fault, died_at) " +
          key +
          ", 1, 'a', '', 'failed', CONCAT('error ', seq MOD 7), 'error #',"
          " UTC_TIMESTAMP(6) - INTERVAL seq SECOND" +
          from);
      look_.execute(
          "INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, "
          "ended_at, lock_host, lock_pid) " +
          key + ", 1, 'a', UTC_TIMESTAMP(6) - INTERVAL seq SECOND, 'h', 1" + from);
    });
  }

  std::uint64_t cost_of(const std::string& target) {
    return rows_read_by(look_, [&] {
      const Answered answered = get(target);
      EXPECT_TRUE(answered.status() == 200 || answered.status() == 404)
          << target << ": " << answered;
    });
  }
};

// The address of a look, with what its path names.
std::string target_of(const Route& route, const std::string& id) {
  std::string target(route.path);
  for (const auto& [name, value] : {std::pair<std::string, std::string>{"{id}", id},
                                    {"{queue}", "mail"},
                                    {"{unique_key}", "k"},
                                    {"{schedule}", "s"},
                                    {"{lock}", "l"},
                                    {"{action}", "1"}}) {
    if (const std::size_t at = target.find(name); at != std::string::npos) {
      target.replace(at, name.size(), value);
    }
  }
  return target;
}

// Every look, lists with and without a filter that finds nothing.
std::vector<std::string> targets(const std::string& id) {
  std::vector<std::string> all;
  for (const Route& route : routes()) {
    if (route.writes() || (route.doer != Doer::kCrew && route.doer != Doer::kScrape)) continue;
    all.push_back(target_of(route, id));
    for (const Parameter& each : route.parameters) {
      if (each.name == "type") all.push_back(all.back() + "?type=none");
    }
  }
  return all;
}

TEST_F(ReadsTest, DoNotGrowWithTheRows) {
  fill(1, kFewRows);
  const std::string id =
      get("/api/v1/queues/mail/tasks?limit=1").document()["items"][0].value("task", "");
  ASSERT_FALSE(id.empty());
  std::map<std::string, std::uint64_t> few;
  for (const std::string& target : targets(id)) {
    static_cast<void>(cost_of(target));  // what a connection asks first
    few[target] = cost_of(target);
  }
  fill(kFewRows + 1, many_rows());
  look_.execute("ANALYZE TABLE task, task_running, task_dead, task_history");
  for (const std::string& target : targets(id)) {
    const std::uint64_t now = cost_of(target);
    std::printf("%-56s %8llu %8llu\n", target.c_str(), static_cast<unsigned long long>(few[target]),
                static_cast<unsigned long long>(now));
    EXPECT_LE(now, few[target] + kOnePage) << target;
  }
}

}  // namespace
}  // namespace allot::gateway::api
