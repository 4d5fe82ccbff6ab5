// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

namespace allot::queue {

std::vector<Expectation> of_lease_rows() {
  return {
      {&sql::k_list_partitions, kPartitions + 4, {}, "all lease rows, and the last task"},
      {&sql::k_fill_partition, 1, {{"partition_no", "7"}}},
      {&sql::k_longest_ttl, 2 * (kPartitions + 3), {}, "all lease rows", false, true},
      {&sql::k_queue_holes,
       10 * kPartitions,
       {},
       "all lease rows, by one host in half a minute",
       true,
       true},
      {&sql::k_far_releases,
       2 * (kPartitions + 3),
       {},
       "all lease rows, as queue_holes",
       false,
       true},
      {&sql::k_bound_release, 1, {}},
      {&sql::k_create_queue, kRoutesOfOne + 4, {}, "and the routes of any queue"},
      {&sql::k_far_places,
       kPartitions * 30,
       {{"after_us", "43200000000"}},
       "a probe for each class of each partition of all queues",
       true,
       true},
      {&sql::k_count_far,
       105,
       {{"partition_no", "1"}, {"prio", "0"}, {"after_us", "1"}, {"limit", "50"}},
       "each of those that it counts, and again in the table of its own",
       false,
       false,
       true},
  };
}

}  // namespace allot::queue
