// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

namespace allot::queue {

// The lock 'wide' has 20 slots, half of them held, and 20 tickets; 200 other locks have one each.
std::vector<Expectation> of_locks() {
  const Values one{{"slot", "3"}, {"ticket", "10"}, {"slots", "20"}};
  return {
      {&sql::k_make_lock, 8000, with(one, "name", "'new'"), "1,024 numbers", true},
      {&sql::k_lock_slots, 1, {}},
      {&sql::k_resize_lock, 8000, one, "1,024 numbers", true},
      {&sql::k_draw_ticket, 30, {}, "the line of the lock"},
      {&sql::k_renew_ticket, 1, {{"holder", "10"}}},
      {&sql::k_return_ticket, 1, {{"holder", "10"}}},
      {&sql::k_purge_tickets, 250, {}, "all tickets, by one host now and then", false, true},
      {&sql::k_watch_line, 37, one, "those before it, and the slots"},
      {&sql::k_take_lock, 25, with(one, "holder", "10"), "those before it, and its row"},
      {&sql::k_renew_lock, 1, with(one, "epoch", "3")},
      {&sql::k_release_lock, 1, with(one, "epoch", "3")},
      {&sql::k_watch_lock, 22, {}, "the slots of the name"},
      {&sql::k_watch_locks, 25, {}, "what is held"},
      {&sql::k_free_lock, 4, one},
      {&sql::k_break_lock, 1, with(one, "epoch", "3")},
      {&sql::k_list_locks, 2500, {}, "all, for people", true, true},
      {&sql::k_show_lock, 45, {}},
  };
}

}  // namespace allot::queue
