// SPDX-License-Identifier: Apache-2.0
#include "queue/statements.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "queue/cancel_request.h"
#include "queue/error_text.h"
#include "queue/history.h"
#include "queue/random.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

// Keys end in 2167, and a sum beyond that wraps around silently.
constexpr std::chrono::microseconds kMaxPause = std::chrono::hours(24 * 365 * 100);

}  // namespace

db::Statement& set_usage(db::Statement& statement, const Usage& usage) {
  const auto text = [](const std::optional<std::uint64_t>& maybe) {
    return maybe ? std::to_string(*maybe) : "NULL";
  };
  return statement.set_raw("runtime_us", text(usage.runtime_us))
      .set_raw("cpu_us", text(usage.cpu_us))
      .set_raw("max_rss_kib", text(usage.max_rss_kib));
}

std::string id_list(std::span<const std::uint32_t> ids) {
  std::string list;
  for (const std::uint32_t id : ids) list += (list.empty() ? "" : ",") + std::to_string(id);
  return list.empty() ? "NULL" : list;
}

// This is no list of pairs, because the server reads the whole partition when such a list holds a
// single pair.
std::string key_condition(std::string_view key, std::span<const TaskKey> keys) {
  std::map<std::uint32_t, std::string> lists;
  for (const TaskKey& at : keys) {
    std::string& list = lists[at.prio];
    list += (list.empty() ? "" : ",") + std::to_string(at.run_key);
  }
  std::string condition;
  for (const auto& [prio_class, list] : lists) {
    if (!condition.empty()) condition += " OR ";
    condition.append("prio = ").append(std::to_string(prio_class)).append(" AND ");
    condition.append(key).append(" IN (").append(list).append(")");
  }
  return condition.empty() ? "FALSE" : condition;
}

db::Statement stamp_statement(Partition partition, std::span<const TaskKey> first_keys, End end) {
  db::Statement stamp(sql::k_stamp_unique);
  set_partition(stamp, partition)
      .set_raw("first_keys", key_condition("first_key", first_keys))
      .set("finished", end == End::kFinished ? 1 : 0);
  return stamp;
}

std::vector<db::Statement> ack_statements(Partition partition, std::span<const Finished> finished) {
  std::vector<db::Statement> statements;
  if (finished.empty()) return statements;
  if (auto keep = keep_statement(partition, finished)) statements.push_back(std::move(*keep));
  std::vector<TaskKey> keys;
  std::vector<TaskKey> first_keys;
  std::vector<TaskKey> unique;
  std::vector<TaskKey> cancel_watched;
  for (const Finished& task : finished) {
    keys.push_back(task.key);
    if (task.first_key) first_keys.push_back({task.key.prio, *task.first_key});
    const TaskKey first_key{task.key.prio, task.first_key.value_or(task.key.run_key)};
    if (task.unique) unique.push_back(first_key);
    if (task.cancel_watched) cancel_watched.push_back(first_key);
  }
  db::Statement& ack = statements.emplace_back(sql::k_ack);
  set_partition(ack, partition).set_raw("keys", key_condition("run_key", keys));
  if (!first_keys.empty()) {
    db::Statement& history = statements.emplace_back(sql::k_ack_history);
    set_partition(history, partition).set_raw("first_keys", key_condition("first_key", first_keys));
  }
  if (!unique.empty()) statements.push_back(stamp_statement(partition, unique, End::kFinished));
  if (!cancel_watched.empty()) {
    statements.push_back(clear_cancel_statement(partition, cancel_watched));
  }
  return statements;
}

std::vector<db::Statement> end_statements(const Claim& claim, End end) {
  const TaskKey first_key{claim.id.prio, claim.id.first_key};
  return {stamp_statement(claim.id.partition, {&first_key, 1}, end),
          clear_cancel_statement(claim.id.partition, {&first_key, 1})};
}

void set_death(db::Statement& hook, const Death& death, const TaskId& id, std::uint32_t salt) {
  hook.set("attempt", death.attempt)
      .set("task", id.text())
      .set("queue", death.hook.from_queue)
      .set("cause", death.verdict.cause)
      .set("error", error_text(death.verdict.error))
      .set("hook_queue", death.hook.queue)
      .set("hook_type", death.hook.type)
      .set("hook_flag", kHookFlag)
      .set("dice", random_number<std::uint32_t>())
      .set("salt", salt);
}

Fenced fence_holds(db::Connection& db, Partition partition, std::uint64_t epoch,
                   std::uint64_t holder) {
  db::Statement held(sql::k_held_lease);
  set_partition(held, partition).set("holder", holder);
  const auto row = db.run({held}).front().next();
  return row && row->u64(0) == epoch ? Fenced::kWritten : Fenced::kLost;
}

std::vector<db::Statement> ack_detached_statements(const Claim& claim,
                                                   const std::optional<Record>& record) {
  std::vector<db::Statement> statements;
  if (record) {
    set_usage(set_row(statements.emplace_back(sql::k_keep_detached), claim), record->usage);
  }
  set_row(statements.emplace_back(sql::k_ack_detached), claim);
  return statements;
}

std::uint32_t kept_flags(const Verdict& verdict) {
  constexpr std::string_view kTookItsWorker[] = {kLost.cause, "signal", "exit", "memory", "frozen"};
  const bool keeps = std::find(std::begin(kTookItsWorker), std::end(kTookItsWorker),
                               verdict.cause) != std::end(kTookItsWorker);
  return keeps ? kAllFlags : kEndedFlags;
}

db::Statement& set_pause(db::Statement& statement, std::chrono::microseconds pause,
                         const HolderTime& time) {
  return statement.set("delay_us", bounded_us(pause)).set("known_us", time.now().count());
}

std::int64_t bounded_us(std::chrono::microseconds delay) {
  return std::clamp(delay, std::chrono::microseconds(0), kMaxPause).count();
}

std::uint32_t salt() {
  return random_number<std::uint16_t>() & 4095U;
}

}  // namespace allot::queue
