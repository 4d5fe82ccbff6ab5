// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"
#include "queue/submit/address.h"

namespace allot::queue {

std::vector<Expectation> of_routes() {
  const Values route{
      {"source_id", "2"}, {"target_id", "1"}, {"is_prefix", "0"}, {"pattern", "'t1'"}};
  return {
      {&sql::k_find_route,
       3 * kRoutesOfOne + 3,
       {{"best_route", best_route("2", "'spread'", "t1")}},
       "the routes of the queue and of any, and the one that is best",
       true},
      {&sql::k_lock_route,
       2 * kRoutesOfOne + 3,
       {{"source_id", "2"}, {"type", "'t1'"}},
       "the routes of the queue, and the one that is best",
       true},
      {&sql::k_next_layout, 1, {{"source_id", "2"}}},
      {&sql::k_next_layout_of_takers, 2 * kRoutes, {{"source_id", "2"}}, "all queues", true, true},
      {&sql::k_require_no_tasks,
       kTasks + 4 * kRoutes,
       {{"source_id", "2"}, {"is_prefix", "0"}, {"pattern", "'none'"}},
       "the tasks of the queue, and of those its routes lead to",
       false,
       true},
      {&sql::k_list_routes, 4 * kRoutes, {}, "all, for people", true, true},
      {&sql::k_begin_routes, 1, {}},
      {&sql::k_set_route, 1, route},
      {&sql::k_remove_route, 1, route},
      {&sql::k_settle_routes, 5 * kRoutes, {}, "all, when one was changed", true, true},
      {&sql::k_live_keys,
       4 * kHistory * kPartitions * kPrioClasses + 100,
       {{"is_prefix", "0"}, {"pattern", "'none'"}, {"limit", "100"}},
       "each unique key of the queue, and its task",
       false,
       true},
  };
}

}  // namespace allot::queue
