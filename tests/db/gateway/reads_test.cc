// SPDX-License-Identifier: Apache-2.0
// The database cost of each read does not grow with its rows, by the server's own counters.
//   ALLOT_TEST_ROWS=10000000: number of rows in each of the tables of tasks
#include <cstdio>
#include <map>

#include "db/gateway/many_rows.h"

namespace allot::gateway::api {
namespace {

class ReadsTest : public ManyRowsTest {
 protected:
  std::uint64_t cost_of(const std::string& target) {
    return rows_read_by(observer_, [&] {
      const Answered answered = get(target);
      EXPECT_TRUE(answered.status() == 200 || answered.status() == 404)
          << target << ": " << answered;
    });
  }
};

// Address of a read, with the names of its path.
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

// Every read, lists with and without a filter that matches nothing.
std::vector<std::string> targets(const std::string& id) {
  std::vector<std::string> all;
  for (const Route& route : routes()) {
    if (route.writes() ||
        (route.executor != Executor::kThreadPool && route.executor != Executor::kScrape))
      continue;
    all.push_back(target_of(route, id));
    for (const Parameter& each : route.parameters) {
      if (each.name == "type") all.push_back(target_of(route, id) + "?type=none");
      if (each.name == "until") all.push_back(target_of(route, id) + "?until=2100-01-01T00:00:00Z");
      if (each.name == "until") all.push_back(target_of(route, id) + "?since=2100-01-01T00:00:00Z");
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
    static_cast<void>(cost_of(target));  // first queries of a connection
    few[target] = cost_of(target);
  }
  fill(kFewRows + 1, many_rows());
  analyze();
  for (const std::string& target : targets(id)) {
    const std::uint64_t now = cost_of(target);
    std::printf("%-56s %8llu %8llu\n", target.c_str(), static_cast<unsigned long long>(few[target]),
                static_cast<unsigned long long>(now));
    EXPECT_LE(now, few[target] + kOnePage) << target;
  }
}

}  // namespace
}  // namespace allot::gateway::api
