// SPDX-License-Identifier: Apache-2.0
// Rows that the statements of minutes, hours and instances may read.
#include <functional>

#include "db/queue/plan_expectations.h"
#include "db/statement.h"
#include "queue/minutes/type_hours.h"
#include "sql/queries.h"

namespace allot::queue {

std::vector<Expectation> of_minutes() {
  const std::string counts =
      "SELECT 0 AS row_no, 'q' AS queue, 't' AS type, '' AS error_group, '' AS error, 1 AS a, 1 AS "
      "b, 1 AS c, 1 AS d, 1 AS e, 1 AS f, 1 AS g, 1 AS h, 1 AS i, 1 AS j, 1 AS k, 1 AS l, 1 AS m, "
      "1 AS n";
  const Values instance{{"origin", "7"},    {"write_no", "0"},         {"version", "''"},
                        {"run_id", "''"},   {"age_us", "1"},           {"totals", "''"},
                        {"counts", counts}, {"pools", "'default 1 q'"}};
  std::string hours = "SELECT 'q' AS queue, 't' AS type";
  for (const std::string& column : hour_columns()) hours += ", 1 AS " + column;
  const Values added{{"hours", hours},
                     {"columns", db::joined(hour_columns(), std::identity{})},
                     {"added", "done = type_hour.done + VALUES(done)"}};
  Values with_state = instance;
  with_state["state"] = "'{}'";
  with_state["holder"] = "1";
  const Values types{{"queue", "''"},
                     {"type", "''"},
                     {"hours", "24"},
                     {"step", "1"},
                     {"sums", "SUM(done), SUM(ran_0)"}};
  const Values list{
      {"queue", "''"}, {"step", "1"}, {"types", "1"}, {"errors", "0"}, {"since_us", "60000000"}};
  return {
      {&sql::k_find_instance, 1, instance},
      {&sql::k_make_instance, 2, instance},
      {&sql::k_require_instance, 1, instance},
      {&sql::k_write_minute, 6, instance, "its row, and what is written", true, true},
      {&sql::k_add_type_hours, 4, added, "what is written", true, true},
      {&sql::k_advance_instance, 3, instance},
      {&sql::k_purge_minutes, 30, {}, "the instances", false, true},
      {&sql::k_put_deployment,
       8,
       {{"version", "'v'"}, {"configuration", "'c'"}, {"host", "'h7'"}, {"instance", "'i'"}},
       "its newest row",
       true,
       true},
      {&sql::k_put_snapshot, 2, with_state, "its row"},
      {&sql::k_note_viewer, 1, {{"duty", "'purge'"}}},
      {&sql::k_remove_snapshot, 3, with_state},
      {&sql::k_put_backlog,
       8,
       {{"backlogs", "UNION ALL SELECT 1, 1, 0"}},
       "what is written",
       true,
       true},
      // For people: the requested part of the week.
      {&sql::k_list_instances, 60, {}, "all", true, true},
      {&sql::k_list_minutes, 40, list, "rows of the period", true, true},
      {&sql::k_list_backlog, 40, list, "rows of the period", true, true},
      {&sql::k_list_snapshots, 60, {}, "all", true, true},
      {&sql::k_list_deployments, 60, {{"hours", "24"}}, "all", true, true},
      {&sql::k_list_types, 120, types, "rows of the period", true, true},
  };
}

}  // namespace allot::queue
