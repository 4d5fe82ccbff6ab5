// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

namespace allot::queue {

std::vector<Expectation> of_findings() {
  return {{&sql::k_store_findings, 4, {{"more_rows", ""}}, "those that it removes"},
          {&sql::k_list_findings, 4, {}, "each row", false, true}};
}

// The parts of write_audit.sql are tested separately.
std::vector<Expectation> of_audit() {
  const Values entry{{"actor", "'x'"},
                     {"source", "'cli'"},
                     {"action", "'pause'"},
                     {"subject", "'queue'"},
                     {"name", "'q'"},
                     {"detail", "''"},
                     {"reason", "''"},
                     {"operation_id", "NULL"},
                     {"adds", "0"},
                     {"before", "1000"},
                     {"of_queue", "'q'"},
                     {"into_queue", "NULL"},
                     {"version", "0"},
                     {"paused", "0"},
                     {"source_id", "2"},
                     {"is_prefix", "0"},
                     {"pattern", "'t1'"},
                     {"slot", "0"},
                     {"token", "'t7'"},
                     {"action_id", "7"},
                     {"to_queue_id", "2"},
                     {"keys", "prio = 2 AND run_key IN (150)"},
                     {"found", "SELECT 'q' AS of_queue, NULL AS into_queue, 1 AS how_many"}};
  return {
      {&sql::k_write_audit, 3, entry, "the part, and a look for its number"},
      {&sql::k_audit_paused, 1, entry},
      {&sql::k_audit_rated, 1, entry},
      {&sql::k_audit_route, 2, entry},
      {&sql::k_audit_dead, 2, entry, "its row, and its queue's row"},
      {&sql::k_audit_waiting, 2, entry, "as audit_dead"},
      {&sql::k_audit_request, 2, entry, "as audit_dead"},
      {&sql::k_audit_move, 5, entry, "the lease, the task, and both queues"},
      {&sql::k_audit_schedule, 1, entry},
      {&sql::k_audit_lock, 1, entry},
      {&sql::k_audit_begun, 2, entry, "its row, and its queue's row"},
      {&sql::k_audit_stopped, 2, entry, "its row, and its queue's row"},
      {&sql::k_list_audit, 55, entry, "each row"},
      {&sql::k_list_audit_of, 260, entry, "each row, and rows of the subject on earlier pages"},
      {&sql::k_purge_audit,
       6,
       {{"last_number", "1"}, {"keep_us", "7776000000000"}},
       "those that it removes"},
  };
}

}  // namespace allot::queue
