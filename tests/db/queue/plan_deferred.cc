// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

namespace allot::queue {

// For tasks that were put back: the number given by the caller, and the notes of their types.
std::vector<Expectation> of_deferred() {
  const std::string far_salt = std::to_string(std::uint64_t{1} << 50);  // keys that are free
  std::string first_keys = "1";
  for (std::size_t i = 2; i <= kBlock; ++i) first_keys += "," + std::to_string(i);
  return {
      {&sql::k_note_deferred,
       4,
       {{"keys", "prio = 2 AND run_key IN (150)"}, {"slack_us", "6000000"}},
       "",
       true},
      {&sql::k_call_forward,
       6,
       {{"keys", "prio = 2 AND run_key IN (150)"}, {"first_keys", "150"}, {"salt", far_salt}},
       "",
       true},
      {&sql::k_call_forward,
       10 * kBlock,
       {{"keys", keys(kBlock, "prio", "run_key")}, {"first_keys", first_keys}, {"salt", far_salt}},
       "",
       true},
      {&sql::k_scout_deferred,
       8 * kPartitions,
       {},
       "each type that was put back, and its lease",
       true,
       true},
      {&sql::k_deferred_types, 3, {}},
      {&sql::k_find_deferred,
       51,
       {{"partition_no", "1"},
        {"prio", "0"},
        {"from_key", std::to_string(kTomorrow + 1)},
        {"to_key", std::to_string(kTomorrow + 50)},
        {"type", "'t'"}},
       "the range of keys"},
      {&sql::k_advance_deferred, 2, {{"from_key", "7"}, {"type", "'t'"}}},
      {&sql::k_forget_deferred, 2, {{"type", "'t'"}}},
      {&sql::k_purge_deferred,
       3 * kPartitions,
       {},
       "all of them, once in half a minute",
       false,
       true},
  };
}

}  // namespace allot::queue
