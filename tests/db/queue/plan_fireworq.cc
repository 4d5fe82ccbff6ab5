// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

namespace allot::queue {
namespace {

Values changed(Values values, const std::string& name, const std::string& value) {
  values[name] = value;
  return values;
}

}  // namespace

// A number for each task of class 1, and one queue of eight partitions.
std::vector<Expectation> of_fireworq() {
  const Values range{{"prio", "1"}, {"first_key", "1"}, {"last_key", "1600"}, {"way", "ASC"}};
  return {
      {&sql::k_fetch, kBlock + 1, {{"started", keys(kBlock / 2, "prio", "run_key")}}},
      {&sql::k_list_fireworq, 2, {{"first_name", "'wide'"}, {"last_name", "'wide'"}}},
      {&sql::k_list_fireworq,
       8,
       {{"first_name", "''"}, {"last_name", "'\xff'"}},
       "all queues",
       true,
       true},
      {&sql::k_lock_fireworq, 1, {}},
      {&sql::k_find_routing, 1, {{"category", "'c'"}}},
      {&sql::k_put_fireworq,
       8,
       {{"polling_interval", "200"},
        {"max_workers", "20"},
        {"rate", "NULL"},
        {"burst", "NULL"},
        {"hidden", "'deleted'"},
        {"rated_only", "'r'"}}},
      {&sql::k_hide_fireworq, 4, {{"hidden", "'deleted'"}}},
      {&sql::k_list_routings, 8, {}, "all routings", true, true},
      {&sql::k_put_routing, 2, {{"category", "'c'"}}},
      {&sql::k_remove_routing, 2, {{"category", "'c'"}}},
      {&sql::k_number_jobs, 2, {{"rows", "(4711, 0, 1, 1)"}}},
      {&sql::k_list_blocks, kPartitions + 1, {}},
      {&sql::k_block_end, kBlock + 2, {{"due_key", std::to_string(kTomorrow)}}},
      {&sql::k_page_jobs, 2 * 50 + 2, range, "each task and its number"},
      {&sql::k_page_jobs, 2 * 50 + 2, changed(range, "way", "DESC")},
      {&sql::k_page_jobs, 4, changed(changed(range, "limit", "1"), "last_key", "160000000")},
      {&sql::k_read_jobs, 2, {{"run_keys", "150"}}},
      {&sql::k_find_job, 3, {{"job_id", "7"}}},
      {&sql::k_page_failed,
       2 * (2 * kHistory + 51) + 5,
       {{"until_us", "7000000000000000"}},
       "two classes before it have no numbers"},
      {&sql::k_read_failed, 1, {}},
      {&sql::k_page_numbers, 5 * 50 + 1, {{"after", "0"}}, "each with its task"},
      {&sql::k_sweep_numbers, 6, {{"job_ids", "1, 2"}}},
  };
}

}  // namespace allot::queue
