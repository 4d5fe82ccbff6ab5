// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

namespace allot::queue {

// Each reads all queues, of which there are few.
std::vector<Expectation> of_servers() {
  return {
      {&sql::k_read_term, 16, {}, "and the row of the term", false, true},
      {&sql::k_promote, 16, {{"known_term", "1"}}, "and the marks", false, true},
      {&sql::k_mark_superseded, 30, {{"term", "1"}}, "each looked up and written", false, true},
      {&sql::k_clear_superseded, 30, {}, "each looked up and written", false, true},
  };
}

}  // namespace allot::queue
