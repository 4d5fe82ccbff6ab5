// SPDX-License-Identifier: Apache-2.0
#include "db/queue/plan_expectations.h"

#include "queue/submit/address.h"

namespace allot::queue {

std::string keys(std::size_t count, const std::string& prio, const std::string& key) {
  std::map<std::size_t, std::string> lists;
  for (std::size_t i = 0; i < count; ++i) {
    std::string& list = lists[i % kPrioClasses];
    list += (list.empty() ? "" : ",") + std::to_string(1 + i / kPrioClasses);
  }
  std::string all;
  for (const auto& [prio_class, list] : lists) {
    all += (all.empty() ? "" : " OR ") + prio + " = " + std::to_string(prio_class) + " AND " + key +
           " IN (" + list + ")";
  }
  return all;
}

Values with(Values values, const std::string& name, const std::string& value) {
  values[name] = value;
  return values;
}

namespace {

std::string numbers_to(std::size_t last) {
  std::string list = "1";
  for (std::size_t i = 2; i <= last; ++i) list += "," + std::to_string(i);
  return list;
}

const char* const kFarAway = "'9999-12-31 23:59:59'";
const char* const kSomeDuties = "queue_id = 1 AND duty IN ('purge','unique')";

// All leases of a queue, for any number of waiting tasks.
std::vector<Expectation> of_looks() {
  return {
      {&sql::k_scout, kPartitions * 3, {}, "a probe for each class, and the sort by release", true},
      {&sql::k_scout_ahead,
       kPartitions * 8 + 10,
       {},
       "a probe for each class, and its row twice",
       true},
      {&sql::k_watch, kPartitions * 2, {}},
  };
}

std::vector<Expectation> of_the_way_of_a_task() {
  const std::string one = "prio = 2 AND run_key IN (150)";
  const std::string one_first = "prio = 2 AND first_key IN (150)";
  return {
      // Only the lease row, by its key.
      {&sql::k_lease,
       6,
       {{"partition_no", "1"}},
       "locked first, which makes a row of one row; the look for a pause; the cap of the queue"},
      {&sql::k_takeover, 7, {}, "as lease, and which server wrote last"},
      {&sql::k_note_server, 1, {}},
      {&sql::k_renew, 1, {}},
      {&sql::k_release, 1, {}},
      {&sql::k_held_lease, 1, {}},
      {&sql::k_clear_suspects, 1, {}},
      {&sql::k_find_suspects, 4 * kBlock, {{"suspect_to", "~0"}, {"per_class", "100"}}},
      {&sql::k_made_queues, 10, {}, "all queues that requests made", false, true},
      {&sql::k_read_cap_part, kPartitions + 4, {}},
      {&sql::k_reclaim, 2 * (kPartitions + 3), {}, "once at start, without an index", false, true},
      // Head of a partition: the number of rows that the caller requests.
      {&sql::k_fetch, kBlock + 1, {}},
      {&sql::k_fetch, kBlock + 2, {{"partition_no", "1"}}, "class 0 is not due"},
      {&sql::k_fetch_payload, 1, {}},
      {&sql::k_last_key, 1, {}},
      // The number of rows given by the caller.
      {&sql::k_ack, 1, {{"keys", one}}},
      {&sql::k_ack, kBlock, {{"keys", keys(kBlock, "prio", "run_key")}}},
      {&sql::k_ack, 1000, {{"keys", keys(1000, "prio", "run_key")}}},
      {&sql::k_ack_history, 6, {{"first_keys", one_first}}},
      {&sql::k_ack_history, 6 * kBlock, {{"first_keys", keys(kBlock, "prio", "first_key")}}},
      {&sql::k_defer, 6, {{"keys", one}, {"run_keys", "150"}}, "", true},
      {&sql::k_defer,
       10 * kBlock,
       {{"keys", keys(kBlock, "prio", "run_key")}, {"run_keys", numbers_to(kBlock)}},
       "",
       true},
      {&sql::k_retry, 6, {}, "", true},
      {&sql::k_charge, 2, {}},
      {&sql::k_suspect, 2, {{"keys", one}}},
      {&sql::k_suspect, 2 * kBlock, {{"keys", keys(kBlock, "prio", "run_key")}}},
      {&sql::k_record_attempt, 3, {}},
      {&sql::k_forget_attempt, 2, {{"attempt", "1"}}},
      {&sql::k_bury, 8, {}},
      {&sql::k_checkpoint, 2, {{"payload", "'x'"}}},
      {&sql::k_count_in_headers, 2, {{"line", "'verdicts='"}, {"count", "1"}}},
      {&sql::k_watch_cancel, 2, {{"cancel_watched_flag", "64"}}},
      {&sql::k_still_there, 1, {}},
      {&sql::k_require_task, 2, {}},
      {&sql::k_find_task, 1, {}},
      {&sql::k_submit,
       0,
       {{"rows",
         "(1, 1, 1, 4711, NULL, 0, NULL, 't', '', NULL), (1, 1, 1, 4712, NULL, 0, NULL, 't', '', "
         "NULL)"}}},
  };
}

// For a queue with three buckets, the number of charged tasks.
std::vector<Expectation> of_rates() {
  return {
      {&sql::k_lease_rated, 10, {{"partition_no", "1"}}, "as lease, and a look at the buckets"},
      {&sql::k_charge_rate,
       60,
       {{"wanted", "10"}, {"running", "3"}, {"wanted_and_running", "10"}, {"grant_id", "5"}},
       "the buckets, sorted, and the head",
       true,
       true},
      {&sql::k_give_back, 1, {{"bucket_no", "1"}, {"charged_at", "1"}, {"unused", "1"}}},
      {&sql::k_scout_rated, 10, {{"closed", "0"}}, "the buckets, and no queue that is rated", true},
  };
}

std::vector<Expectation> of_unique_keys() {
  return {
      {&sql::k_reserve_key,
       2,
       {{"rows", "(1, 'key-0-2-150', 1, 1, 4711, 5, 0), (1, 'new', 1, 1, 4712, 6, 0)"}}},
      {&sql::k_submit_unique,
       2,
       {{"unique_key", "'free'"},
        {"reservation", "1"},
        {"flags", "2"},
        {"expires", "NULL"},
        {"placed_queue", "1"},
        {"key_hash", "NULL"},
        {"type", "'t'"},
        {"payload", "''"}}},
      {&sql::k_find_fair, 3, {{"partition_keys", "'key-0', 'key-5'"}}},
      {&sql::k_assign_fair,
       16 * kPartitions,
       {{"partition_key", "'new'"}},
       "once for a new key: all leases, and the head of each partition",
       true,
       true},
      {&sql::k_read_unique, 4, {{"unique_keys", "'key-0-2-150', 'key-0-2-151'"}}},
      {&sql::k_running_owners,
       16,
       {{"unique_keys", "'key-0-2-150', 'key-0-2-151'"}, {"cancel_watched_flag", "64"}}},
      {&sql::k_stamp_unique,
       5,
       {{"first_keys", "prio = 2 AND first_key IN (150)"}, {"finished", "1"}}},
      {&sql::k_stamp_unique,
       6 * kBlock,
       {{"first_keys", keys(kBlock, "prio", "first_key")}, {"finished", "0"}}},
  };
}

std::vector<Expectation> of_detached_tasks() {
  const Values running{{"epoch", "7"}, {"holder", "8"}};  // for the rows of task_running
  return {
      // One, by its id.
      {&sql::k_detach, 4, {{"run_key", "901"}, {"cancel_watched_flag", "64"}}},
      {&sql::k_renew_detached, 1, running},
      {&sql::k_held_detached, 1, running},
      {&sql::k_checkpoint_detached, 1, with(running, "payload", "'x'")},
      {&sql::k_count_in_headers_detached, 1,
       with(with(running, "line", "'verdicts='"), "count", "1")},
      {&sql::k_require_detached, 1, running},
      {&sql::k_ack_detached, 8, running},
      {&sql::k_suspect_detached, 1, running},
      {&sql::k_retry_detached, 8, running},
      {&sql::k_return_detached, 3, running},
      {&sql::k_bury_detached, 6, running},
      {&sql::k_record_detached, 2, running},
      {&sql::k_forget_detached, 3, with(running, "attempt", "1")},
      {&sql::k_recover, 4, with(with(running, "seen_epoch", "7"), "former", "0"),
       "as lease, and which server wrote last"},
      // All: one per worker.
      {&sql::k_watch_detached, kDetachedRows + 1, {}, "", false, false, true},
      {&sql::k_former_detached, kDetachedRows + 1, {}, "once at start", false, true},
  };
}

std::string done_list(std::size_t count) {
  std::string list = "[1,3,0]";
  for (std::size_t i = 1; i < count; ++i) {
    list += ",[" + std::to_string(i % kPrioClasses) + "," + std::to_string(3 + i / kPrioClasses) +
            ",0,1,2,3]";
  }
  return "'[" + list + "]'";
}

Values hook(const Values& more = {}) {
  Values values{{"task", "'id'"},      {"span", "'00f067aa0ba902b7'"}, {"queue", "'wide'"},
                {"hook_queue", "'q'"}, {"hook_type", "'alert'"},       {"hook_flag", "64"},
                {"dice", "5"}};
  values["best_route"] = best_route("named.queue_id", "named.placement", "alert");
  for (const auto& [name, value] : more) values[name] = value;
  return values;
}

std::vector<Expectation> of_history_and_hooks() {
  const Values running{{"epoch", "7"}, {"holder", "8"}};
  const std::string one_first = "prio = 2 AND first_key IN (150)";
  const std::string many = keys(kBlock, "prio", "first_key");
  return {
      {&sql::k_keep_history, 6, {{"done", done_list(1)}}, "", false, true},
      {&sql::k_keep_history,
       5 * kBlock + 3,
       {{"done", done_list(kBlock)}},
       "the list, each row by its key and again to lock it, and the one that is there",
       false,
       true},
      {&sql::k_keep_detached, 2, running},
      {&sql::k_list_history, 60, {{"before", kFarAway}}, "the newest, by the index"},
      {&sql::k_show_history, 1, {}},
      {&sql::k_old_history, 51, {{"keep_us", "-1000000000"}}},
      {&sql::k_old_dead, 51, {{"keep_us", "-1000000000"}}},
      {&sql::k_purge_history, 5, {{"first_keys", one_first}, {"before", kFarAway}}},
      {&sql::k_purge_history, 5 * kBlock, {{"first_keys", many}, {"before", kFarAway}}},
      {&sql::k_purge_dead, 5, {{"first_keys", one_first}, {"before", kFarAway}}},
      {&sql::k_purge_dead, 5 * kBlock, {{"first_keys", many}, {"before", kFarAway}}},
      {&sql::k_page_unique, 51, {{"after", "''"}, {"keep_us", "0"}}},
      {&sql::k_purge_unique, 3, {{"unique_keys", "'key-0-2-150', 'free'"}, {"keep_us", "0"}}},
      {&sql::k_bound_unique, 3, {{"unique_keys", "'key-0-2-150', 'free'"}}},
      {&sql::k_purge_lag, 4, {{"history_us", "1"}, {"dead_us", "1"}}},
      {&sql::k_make_duty, 1, {{"duty", "'purge'"}}},
      {&sql::k_watch_duties, kDutyRows, {{"duties", kSomeDuties}}, "two rows, or all there are"},
      {&sql::k_take_duties,
       kDutyRows,
       {{"seen",
         "queue_id = 1 AND duty = 'purge' AND (holder = 7 OR holder <=> NULL AND free_at ="
         " '2025-01-01')"}}},
      {&sql::k_renew_duties,
       kDutyRows,
       {{"duties", kSomeDuties},
        {"ran", "queue_id = 1 AND duty = 'purge'"},
        {"failed", "WHEN queue_id = 1 AND duty = 'unique' THEN 'no'"}}},
      {&sql::k_return_duties, kDutyRows + 1, {}, "all rows, when a host leaves"},
      {&sql::k_list_duties,
       4 * kDutyRows,
       {{"viewers", "'x'"}},
       "all rows, and the queue of each",
       true,
       true},
      {&sql::k_hook_dead, 8, hook(),
       "the task, its lease, and the queue by its name and by its number; no route", true},
      {&sql::k_hook_detached, 8, hook(running), "as hook_dead", true},
      {&sql::k_stuck_running, kDetachedRows + 1, {{"after_us", "3600000000"}}, "few there are"},
      {&sql::k_stuck_unknown, 3, {{"after_us", "3600000000"}}},
      {&sql::k_stuck_waiting,
       kPartitions * 20,
       {{"after_us", "3600000000"}},
       "the head of each class of each partition",
       true,
       true},
  };
}

std::vector<Expectation> of_notices() {
  return {
      {&sql::k_waiting_queues,
       kPartitions * 30,
       {{"after_us", "3600000000"}},
       "the head of each class of each partition of all queues, by one host in half a minute",
       true,
       true},
      {&sql::k_dead_queues, 110, {{"before", "99"}}, "as many as make it a notice", true, true},
      {&sql::k_leaderless_duties, 10, {{"for_us", "1"}}, "a handful of duties", true, true},
      {&sql::k_failing_schedules,
       kSchedules * 25,
       {},
       "all schedules with their last ticks, by one host in half a minute",
       true,
       true},
      {&sql::k_list_notices, 10, {}, "", false, true},
      {&sql::k_raise_notice,
       1,
       {{"kind", "'dead'"}, {"subject", "'q'"}, {"detail", "''"}, {"task", "NULL"}}},
      {&sql::k_require_notice, 1, {{"kind", "'dead'"}, {"subject", "'wide'"}}},
      {&sql::k_clear_notice, 1, {{"kind", "'dead'"}, {"subject", "'wide'"}}},
  };
}

std::vector<Expectation> for_people() {
  return {
      {&sql::k_show_server, 1, {}},
      {&sql::k_list_leases, 2 * (kPartitions + 3), {}, "by hand, without an index", false, true},
      // Limited by their arguments.
      {&sql::k_list_tasks, 51, {}, "", false, false, true},
      {&sql::k_list_tasks, 51, {{"partition_no", "7"}, {"prio", "3"}}},
      {&sql::k_list_dead, 60, {{"before", "'9999-12-31 23:59:59'"}}, "the newest, by the index"},
      {&sql::k_list_group, 60, {{"before", "'9999-12-31 23:59:59'"}}},
      {&sql::k_list_running, 51, {}, "", false, false, true},
      {&sql::k_show_task, 4, {}},
      {&sql::k_show_running, 1, {}},
      {&sql::k_show_dead, 1, {}},
      {&sql::k_find_headers, 2, {}, "in its partition, or detached"},
      {&sql::k_show_unique, 2, {}, "the row, by the index on tasks"},
      {&sql::k_find_unique, 7, {{"unique_key", "'key-0-2-150'"}}, "the row, and its task"},
      {&sql::k_list_attempts, 3, {}},
      {&sql::k_count_waiting, 52, {}, "nor a temporary table, which would count as reads, too"},
      {&sql::k_count_dead, 52, {}},
      {&sql::k_count_running, 52, {}},
      {&sql::k_queue_figures,
       kPartitions * 18,
       {},
       "each partition and class, and the first task of it",
       true,
       true},
      {&sql::k_late_schedules, 8, {{"after_us", "1"}}, "those that are due, by the index"},
      {&sql::k_held_locks, 220, {}, "the first slots, in any state", false, true},
      {&sql::k_page_dead, 51, {}, "", false, false, true},
      {&sql::k_group_after, 2, {{"group", "''"}}, "the first row of the next group"},
      {&sql::k_newest_of_group, 2, {}},
      {&sql::k_newest_attempt, 2, {}},
      {&sql::k_count_group, 60, {}, "as count_dead.sql"},
      {&sql::k_page_dead, 51, {{"partition_no", "7"}, {"prio", "3"}}},
      {&sql::k_find_queue, 1, {}},
      {&sql::k_require_rights, 0, {}},
      {&sql::k_list_queues, 15, {}, "a handful of queues, their pauses and rates", true, true},
      {&sql::k_create_partition, 2, {{"rows", "(1, 0, UTC_TIMESTAMP(6))"}}},
  };
}

// By whole queues.
Values spec_values() {
  Values values{{"schedule_id", "1"}, {"version", "1"}, {"seen_next_run", "'2026-01-01'"}};
  for (const char* text : {"expression", "zone", "queue", "type", "payload", "tick_field"}) {
    values[text] = "'x'";
  }
  for (const char* number : {"unique_key", "unique_for_us", "partition_key", "expires_in_us",
                             "late_after_us", "catch_up", "jitter_us", "applied", "revision"}) {
    values[number] = "1";
  }
  values["late"] = "'once'";
  values["overlap"] = "'allow'";
  values["next_run"] = "TIMESTAMP'2026-01-02 00:00:00'";
  values["due_at"] = values["next_run"];
  return values;
}

std::vector<Expectation> of_schedules() {
  const Values tick{{"schedule_id", "1"},
                    {"version", "1"},
                    {"seen_next_run", "TIMESTAMP'2026-01-01 00:00:00'"},
                    {"next_run", "TIMESTAMP'2026-01-02 00:00:00'"},
                    {"due_at", "TIMESTAMP'2026-01-02 00:00:00'"},
                    {"tick", "TIMESTAMP'2026-01-01 00:00:00'"},
                    {"key", "4711"},
                    {"has_task", "1"},
                    {"dropped", "3"},
                    {"reason", "''"}};
  return {
      {&sql::k_find_schedule, 1, {}},
      {&sql::k_list_schedules, 2 * kSchedules + 4, {}, "all, for people", true, true},
      {&sql::k_fetch_schedules, 3, {{"schedule_ids", "1, 2, 3"}}},
      {&sql::k_list_ticks, 22, {{"schedule_id", "1"}}},
      {&sql::k_create_schedule, 2, with(spec_values(), "name", "'new'")},
      {&sql::k_change_schedule, 1, spec_values()},
      {&sql::k_pause_schedule, 1, {{"reason", "''"}}},
      {&sql::k_resume_schedule, 1, {}},
      {&sql::k_remove_schedule, 26, {}, "the schedule twice, and its ticks"},
      {&sql::k_require_schedule, 1, tick},
      {&sql::k_record_run, 50, tick, "its ticks, to keep twenty"},
      {&sql::k_due_schedules, 4, {{"ahead_us", "3000000"}}, "the three that are due"},
      {&sql::k_far_schedules,
       60,
       {{"after", "3"}, {"tolerance_us", "60000000"}, {"limit", "50"}},
       "a page, by number"},
      {&sql::k_reset_schedule, 1, with(tick, "tolerance_us", "60000000")},
      {&sql::k_require_tick, 1, tick},
      {&sql::k_advance_tick, 50, tick, "its ticks, to keep twenty"},
      {&sql::k_drop_ticks, 1, with(tick, "schedule_id", "200")},
      {&sql::k_fail_schedule, 1, with(tick, "error", "'x'")},
      {&sql::k_free_keys,
       6,
       {{"unique_key", "'key-0-2-150'"}},
       "a lookup in each queue",
       false,
       true},
  };
}

std::vector<Expectation> of_queues() {
  const std::string one = "prio = 2 AND first_key IN (150)";
  return {
      {&sql::k_pause, 1, {{"reason", "''"}}},
      {&sql::k_resume, 2, {{"rated_only", "'r'"}}},
      {&sql::k_set_rate,
       10,
       {{"rated_only", "'r'"},
        {"per_second", "0.5"},
        {"burst", "1"},
        {"buckets", "(4711, 0, 1, 0, 1, 0)"}},
       "the rows that it replaces"},
      {&sql::k_set_cap, 1, {{"cap", "3"}}},
      {&sql::k_remove_rate, 10, {}, "the buckets"},
      {&sql::k_resize_queue, 1, {}},
      // The leases of a queue, and one seek for each class of a partition.
      {&sql::k_lock_layout, 2, {}},
      {&sql::k_begin_layout, kPartitions + 3, {}},
      {&sql::k_resize_layout, 1, {{"first_partition", "8"}, {"layout", "1"}}},
      {&sql::k_resize_running, 1, {{"max_running", "3"}}},
      {&sql::k_defer_layout, 3 * kPartitions, {{"first_partition", "0"}, {"layout", "1"}}},
      {&sql::k_ended_layouts, 3, {}, "a queue that is not being resized"},
      {&sql::k_lift_layout, kPartitions + 1, {{"layout", "1"}}},
      {&sql::k_last_due, 8 * kPartitions, {}, "a probe for each class", true},
      {&sql::k_dead_places, 2, {{"first_keys", one}}},
      {&sql::k_count_retired, 110, {{"partitions", "4"}}},
  };
}

std::vector<Expectation> of_bulk_actions() {
  const std::string one = "prio = 2 AND first_key IN (150)";
  const Values action{{"action_id", "7"},   {"token", "'new'"},   {"kind", "'retry_dead'"},
                      {"dead_group", "''"}, {"type", "''"},       {"rate", "0"},
                      {"counted", "1"},     {"counted_all", "1"}, {"requested_by", "''"},
                      {"before", "1000"},   {"batches", "0"},     {"last", "0"},
                      {"tasks", "1"},       {"gap_us", "0"}};
  return {
      {&sql::k_begin_bulk, 4,
       with(action, "until_us", "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))"),
       "the time, and the row by its token"},
      {&sql::k_find_bulk, 2, action, "its row, and its queue's row"},
      {&sql::k_list_bulk, 110, action, "each row, and its queue's row"},
      {&sql::k_open_bulk, 10, {{"limit", "100"}}, "those that are open"},
      {&sql::k_stop_bulk, 3, with(action, "stopped_by", "'x'")},
      {&sql::k_require_bulk, 1, action},
      {&sql::k_require_dead, 2, {{"first_keys", one}, {"tasks", "1"}, {"until_us", "4e15"}}},
      {&sql::k_advance_bulk, 1, action},
      {&sql::k_fail_bulk, 3, action},
      {&sql::k_purge_bulk, 4, {{"last_number", "1"}}, "those that it removes"},
  };
}

std::vector<Expectation> by_operators() {
  const std::string one = "prio = 2 AND first_key IN (150)";
  const std::string many = keys(kBlock, "prio", "first_key");
  return {
      // The number of named rows.
      {&sql::k_retry_dead,
       20,
       {{"first_keys", one},
        {"ordered_keys", "150"},
        {"placed_queue", "1"},
        {"to_partition_no", "0"}},
       "",
       true},
      {&sql::k_retry_dead,
       20 * kBlock,
       {{"first_keys", many},
        {"ordered_keys", numbers_to(kBlock)},
        {"placed_queue", "1"},
        {"to_partition_no", "0"}},
       "",
       true},
      {&sql::k_why, 6, {}, "the lease, the pause, the task that it waits for, and the buckets"},
      {&sql::k_count_ahead, 110, {}},
      {&sql::k_count_ahead, 110, {{"partition_no", "1"}}, "class 0 is not due"},
      {&sql::k_count_ahead, 8, {{"prio", "0"}, {"run_key", "3"}, {"classes_before", "NULL"}}},
      {&sql::k_cancel, 6, {{"run_key", "901"}, {"first_key", "901"}}},
      {&sql::k_cancel_as_done, 9, {{"run_key", "901"}, {"first_key", "901"}, {"keep", "1"}}},
      {&sql::k_request_cancel,
       5,
       {{"run_key", "901"}, {"first_key", "901"}, {"reason", "''"}, {"cancel_watched_flag", "64"}}},
      {&sql::k_find_cancel, 1, {}},
      {&sql::k_clear_cancel, 5, {{"first_keys", one}}},
      {&sql::k_clear_cancel, 6 * kBlock, {{"first_keys", many}}},
      {&sql::k_page_waiting, 51, {}, "", false, false, true},
      {&sql::k_page_waiting, 51, {{"partition_no", "7"}, {"prio", "3"}}},
      {&sql::k_lease_to_move, 5, {{"partition_no", "1"}}, "as lease"},
      {&sql::k_move,
       40,
       {{"keys", "prio = 2 AND run_key IN (150)"},
        {"first_keys", one},
        {"run_keys", "150"},
        {"to_queue_id", "4711"},
        {"cancel_watched_flag", "64"},
        {"to_partition_no", "3"}},
       "",
       true},
      {&sql::k_move,
       52 * kBlock,
       {{"keys", keys(kBlock, "prio", "run_key")},
        {"first_keys", many},
        {"run_keys", numbers_to(kBlock / kPrioClasses)},
        {"to_queue_id", "4711"},
        {"cancel_watched_flag", "64"},
        {"to_partition_no", "3"}},
       "",
       true},
      {&sql::k_discard_dead, 5, {{"first_keys", one}}},
      {&sql::k_discard_dead, 5 * kBlock, {{"first_keys", many}}},
  };
}

}  // namespace

std::vector<Expectation> expectations() {
  std::vector<Expectation> all = of_the_way_of_a_task();
  for (auto* part :
       {of_looks,     of_rates,        of_unique_keys, of_detached_tasks, of_history_and_hooks,
        of_routes,    of_notices,      of_queues,      of_schedules,      of_locks,
        by_operators, of_bulk_actions, of_audit,       of_findings,       of_minutes,
        of_fireworq,  of_deferred,     of_lease_rows,  of_servers,        for_people}) {
    for (Expectation& expected : part()) all.push_back(std::move(expected));
  }
  return all;
}

const std::set<std::string>& without_plan() {
  static const std::set<std::string> kNames{
      "submit_row",         "reserve_key_row",     "due_now",
      "due_after",          "due_behind",          "due_at",
      "expires_at",         "expires_in",          "kill_connection",
      "rehearse",           "rehearsed",           "rehearse_session",
      "changed_switch",     "server_uptime",       "connections_allowed",
      "placed_queue",       "server_variables",    "database_clock",
      "show_group",         "foreign_engine",      "inserted_key",
      "reserved_key",       "require_reservation", "best_route",
      "estimate_waiting",   "own_address",         "read_role",
      "read_member",        "server_name",         "other_node",
      "replication_status", "audit_plain"};
  return kNames;
}

}  // namespace allot::queue
