// SPDX-License-Identifier: Apache-2.0
// The database cost of a dashboard page does not grow with the rows of the tables, and a page about
// all queues does not need more statements for more queues.
//   ALLOT_TEST_ROWS=10000000: number of rows in each of the tables of tasks
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>

#include "db/gateway/site.h"
#include "queue/locks/lock_store.h"
#include "queue/schedules/schedule_store.h"

namespace allot::gateway::ui {
namespace {

struct Cost {
  std::uint64_t statements = 0;
  std::uint64_t rows = 0;
};

class PageCostTest : public SiteTest {
 protected:
  std::uint64_t statements() {
    return number("SELECT variable_value FROM " +
                  std::string(support::on_mysql() ? "performance_schema" : "information_schema") +
                  ".global_status WHERE variable_name = 'Questions'");
  }
  Cost cost_of(const std::string& path) {
    Cost cost;
    const auto look = [&] {
      const auto answered = page(path);
      EXPECT_EQ(answered.status(), 200U) << path << ": " << answered;
    };
    cost.rows = rows_read_by(observer_, look);
    const std::uint64_t before = statements();
    look();
    cost.statements = statements() - before - 1;
    return cost;
  }
  std::map<std::string, Cost> costs(const std::vector<std::string>& paths) {
    std::map<std::string, Cost> all;
    for (const std::string& path : paths) {
      static_cast<void>(cost_of(path));  // first queries of a connection
      all[path] = cost_of(path);
    }
    return all;
  }
  // Each page, and the lists and the search with a filter that matches nothing.
  std::vector<std::string> paths() {
    queue::ensure_lock(observer_, "billing", 2);
    queue::ScheduleSpec spec;
    spec.name = "nightly";
    spec.expression = "0 3 * * *";
    spec.queue = "mail";
    spec.type = "t";
    queue::put_schedule(observer_, spec, queue::database_now(observer_) + std::chrono::hours(1));
    const json count = post_api("/api/v1/queues/other/dead/retry", "");
    const json begun =
        post_api("/api/v1/queues/other/dead/retry", json{{"token", count["token"]}}.dump());
    const std::string task =
        get("/api/v1/queues/mail/tasks?limit=1").document()["items"][0].value("task", "");
    std::vector<std::string> all;
    for (const Page& each : pages()) {
      std::string path(each.path);
      for (const auto& [name, value] :
           std::map<std::string, std::string>{{"{queue}", "mail"},
                                              {"{id}", task},
                                              {"{schedule}", "nightly"},
                                              {"{lock}", "billing"},
                                              {"{action}", begun["action"].dump()}}) {
        if (const std::size_t at = path.find(name); at != path.npos) {
          path.replace(at, name.size(), value);
        }
      }
      all.push_back("/ui/" + path);
    }
    for (const char* state : {"dead", "waiting", "running", "done"}) {
      const std::string search = "/ui/search?queue=mail&state=" + std::string(state);
      all.push_back(search);
      all.push_back(search + "&type=none");
      all.push_back(search + "&since=2100-01-01T00:00");
      all.push_back(search + "&until=2020-01-01T00:00");
    }
    all.emplace_back("/ui/failures?queue=mail");
    return all;
  }
  json post_api(const std::string& target, const std::string& body) {
    return api::GatewayTest::post(target, body).document();
  }
};

TEST_F(PageCostTest, DoesNotGrowWithTheRows) {
  fill(1, kFewRows);
  const auto all = paths();
  const auto few = costs(all);
  fill(kFewRows + 1, many_rows());
  analyze();
  const auto many = costs(all);
  std::printf("%-56s %10s %10s %10s\n", "page", "statements", "few rows", "many rows");
  for (const std::string& path : all) {
    const Cost& before = few.at(path);
    const Cost& now = many.at(path);
    std::printf("%-56s %10llu %10llu %10llu\n", path.c_str(),
                static_cast<unsigned long long>(now.statements),
                static_cast<unsigned long long>(before.rows),
                static_cast<unsigned long long>(now.rows));
    // Periodic statements, such as the check for a newer schema.
    EXPECT_LE(now.statements, before.statements + 2) << path;
    // 10 %, and a few rows where a page has few.
    EXPECT_LE(now.rows, before.rows + before.rows / 10 + 20) << path;
  }
}

TEST_F(PageCostTest, StatementsOfWhatConcernsAllQueuesDoNotGrowWithThem) {
  fill(1, kFewRows);
  const std::vector<std::string> all{
      "/ui/",      "/ui/queues",  "/ui/failures", "/ui/search",      "/ui/schedules",
      "/ui/locks", "/ui/routes",  "/ui/bulk",     "/ui/queues/mail", "/ui/queues/mail/dead",
      "/ui/types", "/ui/running", "/ui/workers",  "/ui/audit"};
  const auto one = costs(all);
  for (int i = 0; i < 100; ++i) {
    make_queue("more" + std::to_string(i), {4, queue::Placement::kSpread, 1});
  }
  const auto hundred = costs(all);
  std::printf("%-56s %21s %21s\n", "page", "3 queues: statements", "103 queues");
  for (const std::string& path : all) {
    std::printf("%-56s %10llu %10llu %10llu %10llu\n", path.c_str(),
                static_cast<unsigned long long>(one.at(path).statements),
                static_cast<unsigned long long>(one.at(path).rows),
                static_cast<unsigned long long>(hundred.at(path).statements),
                static_cast<unsigned long long>(hundred.at(path).rows));
    EXPECT_LE(hundred.at(path).statements, one.at(path).statements + 2) << path;
    EXPECT_LE(hundred.at(path).rows, one.at(path).rows + 6'000) << path << ": 60 rows per queue";
  }
}

// How long pages take if no other viewer has read their data: a benchmark, which only prints.
//   ALLOT_TEST_ROWS=10000000: number of waiting tasks; a tenth of them dead
//   ALLOT_TEST_QUEUES=1000, ALLOT_TEST_VISITS=200
class PageTimeTest : public PageCostTest {
 protected:
  void fill_waiting_and_dead(std::uint64_t waiting) {
    const std::string key =
        "SELECT " + value("SELECT queue_id FROM queue WHERE name = 'mail'") + ", seq MOD 4, 1, seq";
    each_numbers(1, waiting, [&](const std::string& from) {
      observer_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) " +
                        key + ", 'a', '{}'" + from);
    });
    each_numbers(1, waiting / 10, [&](const std::string& from) {
      observer_.execute(
          "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
          "cause, error, fault, died_at) " +
          key +
          ", 1, 'a', '{}', 'failed', CONCAT('error ', seq MOD 7), 'error #',"
          " UTC_TIMESTAMP(6) - INTERVAL seq SECOND" +
          from);
    });
    observer_.execute("ANALYZE TABLE task, task_dead");
  }
  void print_times(const std::vector<std::string>& paths) {
    const auto visits = support::environment_or<std::size_t>("ALLOT_TEST_VISITS", 5);
    for (const std::string& path : paths) {
      std::vector<double> ms;
      for (std::size_t i = 0; i < visits; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_EQ(page(path).status(), 200U) << path;
        ms.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
                .count());
      }
      std::sort(ms.begin(), ms.end());
      std::printf("%-56s p50 %7.1f ms  p95 %7.1f ms\n", path.c_str(), ms[visits / 2],
                  ms[visits * 95 / 100]);
    }
  }
};

TEST_F(PageTimeTest, HoldsForManyRowsAndManyQueues) {
  fill_waiting_and_dead(many_rows());
  std::printf("waiting %llu, dead %llu, queues 3\n",
              static_cast<unsigned long long>(number("SELECT COUNT(*) FROM task")),
              static_cast<unsigned long long>(number("SELECT COUNT(*) FROM task_dead")));
  const std::string task = get("/api/v1/queues/mail/dead?limit=1").document()["items"][0]["task"];
  print_times({"/ui/", "/ui/failures", "/ui/failures?queue=mail", "/ui/queues", "/ui/queues/mail",
               "/ui/queues/mail/dead", "/ui/queues/mail/waiting", "/ui/tasks/" + task,
               "/ui/running", "/ui/workers", "/ui/types",
               "/ui/search?queue=mail&state=waiting&type=none",
               "/ui/search?queue=mail&state=dead&type=none"});
  const auto queues = support::environment_or<int>("ALLOT_TEST_QUEUES", 20);
  for (int i = 3; i < queues; ++i) {
    make_queue("more" + std::to_string(i), {4, queue::Placement::kSpread, 1});
  }
  std::printf("queues %d\n", queues);
  print_times({"/ui/", "/ui/failures", "/ui/queues", "/ui/queues/mail", "/ui/running",
               "/ui/workers", "/ui/search"});
}

}  // namespace
}  // namespace allot::gateway::ui
