// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/ending.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "queue/model/error_text.h"
#include "queue/model/headers.h"
#include "queue/model/random.h"
#include "queue/model/statements.h"
#include "queue/submit/address.h"
#include "queue/verbs/block.h"
#include "queue/verbs/end_statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

using db::Statement;

// Statements for a task in each place. `stay` leaves it where it is, or puts it back there.
struct Texts {
  const sql::SqlText& record;
  const sql::SqlText& forget;
  const sql::SqlText& move;
  const sql::SqlText& stay;
  const sql::SqlText& bury;
  const sql::SqlText& hook;
  const sql::SqlText& checkpoint;
  const sql::SqlText& count;
};
const Texts kInPartition{
    sql::k_record_attempt, sql::k_forget_attempt, sql::k_retry,      sql::k_charge,
    sql::k_bury,           sql::k_hook_dead,      sql::k_checkpoint, sql::k_count_in_headers};
const Texts kDetached{sql::k_record_detached,     sql::k_forget_detached,
                      sql::k_retry_detached,      sql::k_return_detached,
                      sql::k_bury_detached,       sql::k_hook_detached,
                      sql::k_checkpoint_detached, sql::k_count_in_headers_detached};

const Texts& texts(const Fence& fence) {
  return fence.detached() ? kDetached : kInPartition;
}

// Bits of Task::flags that survive an attempt: its end clears suspicion, unless the cause is
// unknown or it crashed its worker. An attempt also shows that a handler knows the type.
constexpr std::uint32_t kAllFlags = 0xff & ~kNoHandlerFlag;
constexpr std::uint32_t kEndedFlags = kAllFlags & ~kSuspectFlag;

std::optional<std::string> text_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(error_text(text));
}

db::Statement& set_verdict(db::Statement& statement, const Verdict& verdict) {
  return statement.set("cause", verdict.cause)
      .set("error", error_text(verdict.error))
      .set("detail", text_or_null(verdict.detail))
      .set("fault",
           verdict.cause == kCancelled ? std::string() : fault_of(verdict.error, verdict.fault));
}

// Effect of the end of an attempt on the task's attempts and flags.
struct Mark {
  std::uint32_t attempts;  // as far as this process knows
  std::uint32_t at_least;  // other processes may have charged more since
  std::uint32_t at_most;
  std::uint32_t keep_flags;
  bool begun;  // its handler was called; implied by a charge
};

Mark charged(const Ending& ending) {
  constexpr std::string_view kTookItsWorker[] = {kUnreported.cause, "signal", "exit", "memory",
                                                 "frozen"};
  const bool keeps = std::find(std::begin(kTookItsWorker), std::end(kTookItsWorker),
                               ending.verdict.cause) != std::end(kTookItsWorker);
  return {ending.attempt, ending.attempt, UINT32_MAX, keeps ? kAllFlags : kEndedFlags, false};
}

Mark refunded(const Ending& ending, std::uint32_t keep_flags) {
  return {ending.attempt - 1, 0, ending.attempt - 1, keep_flags, ending.begun};
}

Statement forget_statement(const Fence& fence, std::uint32_t attempt) {
  Statement forget(texts(fence).forget);
  set_fence(forget, fence)
      .set("prio", fence.id.prio)
      .set("first_key", fence.id.first_key)
      .set("attempt", attempt);
  return forget;
}

Statement count_statement(const Fence& fence, std::string_view line, std::uint32_t count) {
  Statement statement(texts(fence).count);
  set_row(statement, fence).set("line", line).set("count", count);
  return statement;
}

// Record of a charged attempt, with its log. For a task with unlimited attempts, the first records
// (how it began) and the last ones are kept.
constexpr std::uint32_t kFirstRecords = 10;
constexpr std::uint32_t kLastRecords = 90;
std::vector<Statement> record_statements(const Holder& who, const Fence& fence,
                                         const Ending& ending) {
  Statement record(texts(fence).record);
  set_verdict(set_row(record, fence).set("attempt", ending.attempt), ending.verdict);
  record.set("log_lines", text_or_null(ending.verdict.log));
  if (!fence.detached()) record.set("host", who.host).set("pid", who.pid);
  std::vector<Statement> statements{set_usage(record, ending.verdict.usage)};
  if (!ending.verdicts) return statements;
  if (ending.attempt > kFirstRecords + kLastRecords) {
    statements.push_back(forget_statement(fence, ending.attempt - kLastRecords));
  }
  statements.push_back(count_statement(fence, kVerdictsName, *ending.verdicts));
  return statements;
}

// Removes the record of an attempt that is not charged, and counts one that did not start.
std::vector<Statement> forget_statements(const Fence& fence, const Ending& ending) {
  std::vector<Statement> statements{forget_statement(fence, ending.attempt)};
  if (ending.unstarted) {
    statements.push_back(count_statement(fence, kUnstartedName, *ending.unstarted));
  }
  return statements;
}

Statement marking(const sql::SqlText& text, const Fence& fence, const Mark& mark) {
  Statement statement(text);
  set_row(statement, fence).set("keep_flags", mark.keep_flags);
  // Only this holder writes a detached task.
  if (fence.detached()) return statement.set("attempt", mark.attempts);
  return statement.set("at_least", mark.at_least).set("at_most", mark.at_most);
}

// Sends one transaction. The last SQL statement of `writes` shows whether the fence held or an
// earlier try had done all of it; each of `behind` is one SQL statement.
Fenced send(db::Connection& db, const Fence& fence, std::vector<Statement> writes,
            const std::vector<Statement>& behind = {}) {
  writes.insert(writes.end(), behind.begin(), behind.end());
  const auto results = db.transact(writes);
  if (results.at(results.size() - 1 - behind.size()).affected() > 0) return Fenced::kWritten;
  return fence.detached() ? Fenced::kLost : fence_holds(db, lease_of(fence));
}

std::vector<Statement> release_if(const Fence& fence, Then then, const Deferral& deferral = {}) {
  if (then == Then::kKeepLease) return {};
  return {release_statement(lease_of(fence), deferral)};
}

// Gives the task a later key.
Fenced move(db::Connection& db, const Fence& fence, const std::vector<Statement>& first,
            const Mark& mark, std::chrono::microseconds delay, Then then) {
  return send_salted([&](std::uint32_t salt) {
    std::vector<Statement> writes = first;
    writes.push_back(marking(texts(fence).move, fence, mark));
    set_delay(writes.back(), delay, fence.time).set("salt", salt);
    return send(db, fence, std::move(writes), release_if(fence, then));
  });
}

// Leaves the task where it is, or puts a detached one back there; if another task has that place by
// now, after the due tasks.
Fenced stay(db::Connection& db, const Fence& fence, const std::vector<Statement>& first,
            const Mark& mark, Then then, const Deferral& deferral = {}) {
  try {
    std::vector<Statement> writes = first;
    writes.push_back(marking(texts(fence).stay, fence, mark));
    if (!fence.detached()) writes.back().set("begun", mark.begun);
    return send(db, fence, std::move(writes), release_if(fence, then, deferral));
  } catch (const db::DbError& error) {
    if (error.error_class() != db::ErrorClass::kDuplicate || !fence.detached()) throw;
    return move(db, fence, first, mark, std::chrono::microseconds(0), then);
  }
}

Fenced acknowledge(db::Connection& db, const Fence& fence, const Ending& ending) {
  if (!fence.detached()) {
    const Finished done{fence.key(), fence.id.first_key, true, true, ending.record};
    ack(db, fence.id.partition, {&done, 1});
    return Fenced::kWritten;  // a plain acknowledgement needs no fence (S6)
  }
  return send(db, fence, ack_detached_statements(fence, ending.record),
              end_statements(fence, End::kFinished));
}

Fenced suspect_detached(db::Connection& db, const Fence& fence, const Ending& ending, Then then) {
  Statement suspect(sql::k_suspect_detached);
  set_row(suspect, fence).set("suspect_flag", kSuspectFlag);
  return stay(db, fence, {suspect}, refunded(ending, kAllFlags), then);
}

Statement bury_statement(const Fence& fence, const Ending& ending) {
  Statement bury(texts(fence).bury);
  set_verdict(set_row(bury, fence).set("attempt", ending.attempt), ending.verdict);
  if (!fence.detached()) bury.set("first_key", fence.id.first_key);
  return bury;
}

Statement hook_statement(const Holder& who, const Fence& fence, const Ending& ending,
                         std::uint32_t salt) {
  const OnDead& to = *ending.on_dead;
  const std::string task = fence.id.text();
  Statement hook(texts(fence).hook);
  set_verdict(set_row(hook, fence), ending.verdict)
      .set("attempt", ending.attempt)
      .set("task", task)
      .set("span", span_id(task, ending.attempt))
      .set("queue", to.from_queue)
      .set("hook_queue", to.queue)
      .set("hook_type", to.type)
      .set_raw("best_route", best_route("named.queue_id", "named.placement", to.type))
      .set("hook_flag", kHookFlag)
      .set("dice", random_number<std::uint32_t>())
      .set("salt", salt);
  if (!fence.detached()) hook.set("host", who.host);
  return hook;
}

Fenced bury(db::Connection& db, const Holder& who, const Fence& fence, const Ending& ending,
            Then then) {
  std::vector<Statement> behind = end_statements(fence, End::kDead);
  for (Statement& release : release_if(fence, then)) behind.push_back(std::move(release));
  const auto send_behind = [&](std::vector<Statement> writes) {
    if (!ending.none_ended) {
      for (Statement& one : record_statements(who, fence, ending)) writes.push_back(std::move(one));
    }
    writes.push_back(bury_statement(fence, ending));
    return send(db, fence, std::move(writes), behind);
  };
  if (!ending.on_dead) return send_behind({});
  return send_salted(
      [&](std::uint32_t salt) { return send_behind({hook_statement(who, fence, ending, salt)}); });
}

}  // namespace

const char* name_of(Ending::Verb verb) {
  constexpr std::array kNames{"ack", "retry", "charge", "snooze", "refund", "suspect", "bury"};
  return kNames.at(static_cast<std::size_t>(verb));
}

Fenced write(db::Connection& db, const Holder& who, const Fence& fence, const Ending& ending,
             Then then) {
  using Verb = Ending::Verb;
  switch (ending.verb) {
    case Verb::kAck:
      return acknowledge(db, fence, ending);
    case Verb::kRetry:
      return move(db, fence, record_statements(who, fence, ending), charged(ending), ending.delay,
                  then);
    case Verb::kCharge:
      return stay(db, fence, record_statements(who, fence, ending), charged(ending), then,
                  {ending.delay, fence.key()});
    case Verb::kSnooze:
      return move(db, fence, forget_statements(fence, ending), refunded(ending, kEndedFlags),
                  ending.delay, then);
    case Verb::kRefund:
      return stay(db, fence, forget_statements(fence, ending), refunded(ending, kAllFlags), then);
    case Verb::kSuspect:
      return suspect_detached(db, fence, ending, then);
    case Verb::kBury:
      return bury(db, who, fence, ending, then);
  }
  return Fenced::kLost;
}

Fenced mark_called(db::Connection& db, std::span<const Fence> fences, bool suspected, Then then) {
  const Fence& first = fences.front();
  std::vector<TaskKey> keys;
  for (const Fence& fence : fences) keys.push_back(fence.key());
  const std::uint32_t flag = suspected ? kSuspectFlag : 0;
  return send(db, first, {flag_statement(lease_of(first), keys, flag, Begun::kYes)},
              release_if(first, then));
}

Fenced checkpoint(db::Connection& db, const Fence& fence, const StoredState& state) {
  Statement statement(texts(fence).checkpoint);
  set_row(statement, fence)
      .set_bytes("payload", state.bytes())
      .set("stored_flags", state.flags())
      .set("compressed_flags", kCompressedFlags | kCompressibleFlag);
  return db.transact({&statement, 1}).front().affected() == 1 ? Fenced::kWritten : Fenced::kLost;
}

}  // namespace allot::queue
