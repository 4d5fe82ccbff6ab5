// SPDX-License-Identifier: Apache-2.0
// Part of allot_db in a build with -DALLOT_MUTATIONS=ON only (base/mutant.h).
#include "db/mutation.h"

#include <cstdio>
#include <cstdlib>

#include "base/mutant.h"

namespace allot::db {
namespace {

// "STATEMENT_TABLE" leaves out the subquery of this statement on that table.
struct Look {
  std::string_view statement;
  std::string_view table;
};
constexpr Look kLooks[] = {{"stamp_unique", "task"},
                           {"stamp_unique", "task_running"},
                           {"clear_cancel", "task_moved"},
                           {"ack_history", "task_dead"}};

// A part of a statement that implements a rule.
struct Part {
  std::string_view rule;
  std::string_view statement;
  std::string_view text;
  std::string_view instead;
};
constexpr std::string_view kSinceChange = "(SELECT since FROM server_identity WHERE only_row = 1)";
constexpr std::string_view kLongAgo = "TIMESTAMP'2025-01-01 00:00:00'";
constexpr Part kParts[] = {
    {"retry_dead_lock", "retry_dead", " FOR UPDATE\n    ON DUPLICATE KEY", " ON DUPLICATE KEY"},
    {"note_deferred", "note_deferred", "AND (:keys)", "AND FALSE AND (:keys)"},
    {"defer_layout_free", "defer_layout", " AND state = 'FREE'", ""},
    {"tick_guard", "require_tick", "~0 + (COUNT(*) = 0)", "COUNT(*)"},
    {"tick_forward", "require_tick", "next_run < :next_run", "(TRUE OR :next_run)"},
    {"tick_version", "require_tick", "version = :version", "(TRUE OR :version)"},
    {"next_run_reset", "reset_schedule", "version = :version AND next_run = :seen_next_run",
     "(TRUE OR :version OR :seen_next_run)"},
    {"bulk_guard", "require_bulk", "~0 + (COUNT(*) = 0)", "COUNT(*)"},
    {"minute_guard", "require_instance", "~0 + (COUNT(*) = 0)", "COUNT(*)"},
    {"bulk_dead", "require_dead", "~0 + (COUNT(*) <> :tasks)", "COUNT(*) + :tasks"},
    {"tick_due", "require_tick", "due_at <= UTC_TIMESTAMP(6)", "TRUE"},
    {"running_layout", "resize_running", "layout = layout + 1", "layout = layout"},
    {"route_layout", "next_layout", "layout + 1", "layout"},
    {"route_layout", "next_layout_of_takers", "layout + 1", "layout"},
    {"route_guard", "require_no_tasks", "~0 + (COUNT(*) > 0)", "COUNT(*)"},
    {"lock_seen", "free_lock", "epoch = :seen_epoch AND expire_at = :seen_expire_at",
     "(TRUE OR :seen_epoch = :seen_expire_at)"},
    {"rated_closed", "lease", "(SELECT 1 FROM queue_pause WHERE queue_id = :queue_id) IS NULL",
     "TRUE"},
    {"charge_lease", "charge_rate", "AND lock_by = :holder AND state <> 'FREE'",
     "AND (TRUE OR :holder)"},
    {"give_back_late", "give_back", "BETWEEN :charged_at AND :charged_at + 200000",
     "> (:charged_at = 0)"},
    {"bucket_ahead", "charge_rate",
     "GREATEST(IF(next_free > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6))",
     "GREATEST(IF(FALSE AND next_free > TIMESTAMPDIFF(MICROSECOND, '2025-01-01', "
     "UTC_TIMESTAMP(6))"},
    {"bucket_edge", "charge_rate",
     "TIMESTAMPDIFF(MICROSECOND, '2025-01-01', UTC_TIMESTAMP(6)) - max_lag_us", "0"},
    {"purge_unique_free", "purge_unique",
     "free_at < UTC_TIMESTAMP(6) - INTERVAL :keep_us MICROSECOND", "(TRUE OR :keep_us)"},
    {"purge_dead_died", "purge_dead", "AND died_at < :before", "AND (TRUE OR :before)"},
    {"unique_bound", "reserve_key",
     "LEAST(free_at, UTC_TIMESTAMP(6) + INTERVAL unique_for_us MICROSECOND)", "free_at"},
    {"server_change_wait", "takeover", kSinceChange, kLongAgo},
    {"server_change_wait", "recover", kSinceChange, kLongAgo},
    {"lock_change_take", "take_lock", kSinceChange, kLongAgo},
    {"lock_change_free", "free_lock", kSinceChange, kLongAgo},
    {"lock_change_sql", "allot_lock_try", kSinceChange, kLongAgo},
    {"lock_change_free", "allot_lock_watch", kSinceChange, kLongAgo},
    {"lock_sleep", "allot_lock_watch", "BETWEEN 100000 AND 200000", ">= 0"},
    {"lock_stood_still", "allot_lock_watch", ">= 1000000 + v_ttl_us", ">= v_ttl_us DIV 2"},
    {"lock_seen", "allot_lock_watch",
     "AND epoch = p_epoch AND expire_at = p_expire_at\n       AND (SELECT", "AND (SELECT"},
    {"lock_transaction", "allot_lock_name", "IF v_open THEN", "IF FALSE THEN"},
    {"renew_duties_holder", "renew_duties", "holder = :holder", "(TRUE OR :holder)"},
    {"take_duties_seen", "take_duties", "WHERE :seen",
     "WHERE queue_id < 4294967295 AND (TRUE OR :seen)"}};

std::size_t replace_all(std::string& text, std::string_view what, std::string_view with) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
    ++count;
  }
  return count;
}

// Makes the subquery on that table find nothing.
bool look_away(std::string& text, std::string_view table) {
  const std::string from = "FROM " + std::string(table);
  constexpr std::string_view kWhere = "WHERE";
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += from.size()) {
    const std::size_t where = text.find_first_not_of(" \n", at + from.size());
    if (where == at + from.size() || text.compare(where, kWhere.size(), kWhere) != 0) continue;
    text.insert(where + kWhere.size(), " FALSE AND");
    return true;
  }
  return false;
}

// Removes the headers from a copy of a task, or from the columns that a worker reads. Written
// columns stay unchanged: a bracket follows the last of them.
bool lose_headers(std::string& text) {
  std::size_t lost = replace_all(text, " headers\n", " NULL\n");
  for (const std::string_view column : {"task.headers", "running.headers", "task_dead.headers"}) {
    lost += replace_all(text, column, "NULL");
  }
  if (lost == 0) lost = replace_all(text, " headers,\n", " NULL,\n");
  return lost > 0;
}

// A failed test would count as one that noticed the missing rule; a crash does not.
void must_have_been(bool found, std::string_view statement) {
  if (found) return;
  static_cast<void>(std::fprintf(stderr, "%.*s.sql does not have the text to be removed\n",
                                 static_cast<int>(statement.size()), statement.data()));
  std::abort();
}

}  // namespace

std::string mutated(std::string_view name, std::string_view sql) {
  std::string text(sql);
  if (mutant::removed("fence_" + std::string(name))) {
    must_have_been(
        replace_all(text, "epoch = :epoch AND lock_by = :holder", "(TRUE OR :epoch = :holder)") > 0,
        name);
  }
  if (mutant::removed("epoch_end")) {
    replace_all(text, "epoch = :epoch AND lock_by = :holder AND state <> 'FREE'",
                "epoch = :epoch AND (TRUE OR :holder)");
    if (name == "release") replace_all(text, "epoch = epoch + 1", "epoch = epoch");
  }
  if (mutant::removed("lock_epoch_end") && (name == "release_lock" || name == "renew_lock")) {
    replace_all(text, "epoch = :epoch AND lock_by = :holder AND state <> 'FREE'",
                "epoch = :epoch AND (TRUE OR :holder)");
    replace_all(text, "epoch = epoch + 1024", "epoch = epoch");
  }
  if (mutant::removed("headers_" + std::string(name))) must_have_been(lose_headers(text), name);
  for (const Look& look : kLooks) {
    if (name != look.statement) continue;
    if (mutant::removed(std::string(look.statement) + "_" + std::string(look.table))) {
      must_have_been(look_away(text, look.table), name);
    }
  }
  for (const Part& part : kParts) {
    if (name == part.statement && mutant::removed(part.rule)) {
      must_have_been(replace_all(text, part.text, part.instead) == 1, name);
    }
  }
  return text;
}

}  // namespace allot::db
