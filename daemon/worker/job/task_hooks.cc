// SPDX-License-Identifier: Apache-2.0
#include "worker/job/task_hooks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>

#include "log/log.h"
#include "plugin_host/abi_check.h"
#include "process/finally.h"
#include "process/stop_request.h"
#include "queue/model/headers.h"
#include "worker/run/run_log.h"

namespace allot::worker {
namespace {

using plugin_host::CallAnswer;
using plugin_host::view;

// Smaller ones fit into a packet of any server.
constexpr std::size_t kSurelyFits = 1 << 20;

// The calling run may no longer write.
struct LeaseGone {};

CallAnswer bad(std::string text) {
  return {ALLOT_BAD_INPUT, std::move(text)};
}

// Allows statements that cannot end the transaction, and whose effects a rollback undoes.
bool may_execute(std::string_view statement) {
  constexpr std::array<std::string_view, 8> kAllowed = {"SELECT",  "INSERT", "UPDATE", "DELETE",
                                                        "REPLACE", "WITH",   "VALUES", "CALL"};
  const std::size_t first = statement.find_first_not_of(" \t\r\n(");
  if (first == std::string_view::npos) return false;
  std::string word;
  for (const char c : statement.substr(first)) {
    if (std::isalpha(static_cast<unsigned char>(c)) == 0) break;
    word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return std::find(kAllowed.begin(), kAllowed.end(), word) != kAllowed.end();
}

std::string text_of(const allot_str& text) {
  return std::string(view(text));
}

queue::SubmitOptions options_of(const allot_submission& order) {
  using std::chrono::microseconds;
  const auto key = [](const allot_str& text) {
    return text.data != nullptr ? std::optional(text_of(text)) : std::nullopt;
  };
  const auto moment = [](std::int64_t us) {
    return us != 0 ? std::optional(queue::Moment(microseconds(us))) : std::nullopt;
  };
  queue::SubmitOptions options;
  options.prio = order.prio;
  options.delay = microseconds(order.delay_us);
  options.run_at = moment(order.run_at_us);
  options.unique_key = key(order.unique_key);
  if (order.unique_for_us != 0) {
    options.unique_for = microseconds(std::max<std::int64_t>(order.unique_for_us, 0));
  }
  options.partition_key = key(order.partition_key);
  options.expires_in = microseconds(order.expires_in_us);
  options.expires_at = moment(order.expires_at_us);
  if (order.max_attempts != 0) options.max_attempts = order.max_attempts;
  options.traceparent = text_of(order.traceparent);
  options.tracestate = text_of(order.tracestate);
  if (order.time_limit_ms != 0) options.time_limit = std::chrono::milliseconds(order.time_limit_ms);
  return options;
}

// nullopt: the kind is unknown.
std::optional<db::Value> value_of(const allot_value& value) {
  switch (value.kind) {
    case ALLOT_NULL:
      return db::Value(nullptr);
    case ALLOT_INT:
      return db::Value(value.int_value);
    case ALLOT_UINT:
      return db::Value(value.uint_value);
    case ALLOT_DOUBLE:
      return db::Value(value.double_value);
    case ALLOT_TEXT:
      return db::Value(view(value.text));
    case ALLOT_BYTES:
      return db::Value(db::Bytes{view(value.text)});
    default:
      return std::nullopt;
  }
}

db::RowSink sink_for(const plugin_host::TakeRow& take_row) {
  if (!take_row) return {};
  return [&take_row](std::span<const std::optional<std::string_view>> fields) {
    std::vector<allot_str> row;
    for (const auto& field : fields) {
      // An empty text must not look like NULL.
      row.push_back(field ? allot_str{field->data() == nullptr ? "" : field->data(), field->size()}
                          : allot_str{nullptr, 0});
    }
    take_row(row);
  };
}

}  // namespace

void TaskHooks::log(int level, std::string_view text) noexcept {
  const auto at = static_cast<log::Level>(std::clamp(level, 0, 3));
  log::write(at, "handler.log",
             {{"task", run_.id}, {"type", run_.task.type}, trace_field(run_.task), {"text", text}});
  constexpr std::array kLevels = {"debug", "info", "warn", "error"};
  run_.said.add(kLevels.at(static_cast<std::size_t>(at)), text);
}

// The most important reason for the task comes first.
std::int32_t TaskHooks::stop_reason() noexcept {
  if (run_.cancelled()) return ALLOT_STOP_CANCELLED;
  if (boot_ns() >= run_.soft_deadline_ns()) return ALLOT_STOP_TIME_LIMIT;
  if (!call_.keeper.valid(run_)) return ALLOT_STOP_LEASE;
  return process::asked() == process::Asked::kStop ? ALLOT_STOP_WORKER : ALLOT_STOP_NONE;
}

// A heartbeat of any task is progress of the call.
void TaskHooks::heartbeat() noexcept {
  const Nanos now = boot_ns();
  for (Call::Member& member : call_.members) member.run.progress(now);
}

void TaskHooks::progress(std::uint32_t percent, std::string_view word) noexcept {
  run_.show_progress(percent, word);
  heartbeat();
}

// Exceptions must not cross the plugin interface.
template <typename Request>
CallAnswer TaskHooks::guarded(const char* sole, Request&& request) noexcept {
  const MutexLock held(call_.writing);
  try {
    if (sole != nullptr && call_.several()) {
      return bad(std::string("not in a call with several tasks: ") + sole);
    }
    return request();
  } catch (const LeaseGone&) {
    excused_ = true;
    return {ALLOT_LEASE_LOST, "the task's lease is or may be lost: nothing was written"};
  } catch (const process::GaveUp& gave_up) {
    excused_ = true;
    return {ALLOT_LEASE_LOST, gave_up.what()};
  } catch (const queue::OutcomeUnknown& unknown) {
    excused_ = true;
    return {ALLOT_OUTCOME_UNKNOWN, unknown.what()};
  } catch (const db::DbError& error) {
    return {ALLOT_DATABASE_ERROR, error.what(), error.number()};
  } catch (const Error& error) {
    return bad(error.what());
  } catch (const std::exception& error) {
    return bad(error.what());
  }
}

// Tries until the lease is uncertain; in an open transaction only once, because a second try would
// be in another one.
template <typename Verb>
auto TaskHooks::with_database(Verb&& verb) {
  if (open_) return call_.session.once(verb);
  auto result = call_.session.call_while([this] { return call_.keeper.valid(run_); }, verb);
  if (!result) throw LeaseGone();
  return std::move(*result);
}

CallAnswer TaskHooks::checkpoint(std::string_view payload) noexcept {
  return guarded("a checkpoint is only for a task that runs alone", [&]() -> CallAnswer {
    if (open_) return bad("checkpoint: not allowed while a transaction is open; write it before");
    if (payload.size() > queue::kMaxPayload) {
      return bad("checkpoint of " + std::to_string(payload.size()) +
                 " bytes: the limit is 16 MiB - 1; store the data elsewhere and keep a reference");
    }
    const queue::StoredState state(run_.task.flags, payload);
    // While the handler runs the task can move from its partition to task_running, never back: a
    // search in this order covers every place.
    const auto fenced = with_database([&](db::Connection& db) {
      if (!claim_.detached()) {
        const auto there = queue::checkpoint(db, claim_, state);
        if (there == queue::Fenced::kWritten) return there;
        claim_ = claim_.once_detached();
      }
      return queue::checkpoint(db, claim_, state);
    });
    if (fenced == queue::Fenced::kLost) throw LeaseGone();
    return {};
  });
}

void TaskHooks::prepare_again(db::Connection& db) {
  for (queue::Submission& task : successors_) call_.submitter.prepare(db, {&task, 1});
}

// A task without its own trace is a child of this one.
void TaskHooks::add_trace(queue::SubmitOptions& options) const {
  if (!queue::trace_of(options.traceparent, {}).parent.empty()) return;
  queue::Trace child = queue::child_of(run_.task.headers.trace, run_.id, run_.number);
  options.traceparent = std::move(child.parent);
  options.tracestate = std::move(child.state);
}

// Resolves the queues, and validates: throws Error.
std::vector<queue::Submission> TaskHooks::read(std::span<const allot_submission* const> orders) {
  std::vector<queue::Submission> submissions;
  for (const allot_submission* order : orders) {
    queue::Submission& task = submissions.emplace_back();
    task.type = text_of(order->type);
    task.payload = text_of(order->payload);
    task.options = options_of(*order);
    task.named = text_of(order->queue);
    if (task.named.empty()) task.named = run_.queue.info.name;
    add_trace(task.options);
    with_database([&](db::Connection& db) { call_.submitter.prepare(db, {&task, 1}); });
  }
  return submissions;
}

CallAnswer TaskHooks::submit(std::span<const allot_submission* const> orders,
                             std::vector<std::string>& ids) noexcept {
  return guarded(nullptr, [&]() -> CallAnswer {
    if (open_)
      return bad(
          "submit: not allowed while a transaction is open; replace_with is part of the "
          "transaction");
    const auto submissions = read(orders);
    with_database([](db::Connection& db) {  // a working connection: submit() tries only once
      db.require_writer();
    });
    const auto submitted = call_.session.once(
        [&](db::Connection& db) { return call_.submitter.submit(db, submissions); });
    for (const queue::Submitted& task : submitted) ids.push_back(task.id.text());
    return {};
  });
}

CallAnswer TaskHooks::replace_with(std::span<const allot_submission* const> orders) noexcept {
  return guarded(
      "replace_with is only for a task that runs alone; submit works immediately",
      [&]() -> CallAnswer {
        auto submissions = read(orders);
        for (queue::Submission& one : submissions) {
          if (one.payload.size() > kSurelyFits) {
            std::size_t size = 0;
            const std::uint64_t most = with_database([&](db::Connection& db) {
              size = queue::submit_statements(db, {&one, 1}).front().render().size();
              return db.max_packet();
            });
            if (size >= most) {
              return bad("payload of " + std::to_string(one.payload.size()) +
                         " bytes: its statement exceeds the server's max_allowed_packet of " +
                         std::to_string(most));
            }
          }
        }
        std::move(submissions.begin(), submissions.end(), std::back_inserter(successors_));
        return {};
      });
}

CallAnswer TaskHooks::execute(std::string_view statement, std::span<const allot_value> values,
                              const plugin_host::TakeRow& take_row) noexcept {
  return guarded("a transaction is only for a task that runs alone", [&]() -> CallAnswer {
    if (lost_) return {ALLOT_TRANSACTION_LOST, *lost_};
    if (!may_execute(statement)) {
      return bad(
          "a statement of a handler begins with SELECT, INSERT, UPDATE, DELETE, REPLACE, WITH, "
          "VALUES or CALL; the worker begins and ends the transaction");
    }
    std::vector<db::Value> given;
    for (const allot_value& value : values) {
      auto read = value_of(value);
      if (!read) return bad("value " + std::to_string(given.size() + 1) + " has an unknown kind");
      given.push_back(*read);
    }
    if (!open_) {
      with_database([](db::Connection& db) { db.begin(); });
      open_ = true;
    }
    return run_statement(statement, given, sink_for(take_row));
  });
}

// A deadlock, a lost connection and a full disk undo the transaction; any other error is reported,
// and undid only the statement.
CallAnswer TaskHooks::run_statement(std::string_view statement,
                                    const std::vector<db::Value>& values, const db::RowSink& sink) {
  try {
    return call_.session.once([&](db::Connection& db) -> CallAnswer {
      const db::Changed changed = db.execute_prepared(statement, values, sink);
      if (db.in_transaction()) return {ALLOT_OK, "", 0, changed.affected, changed.insert_id};
      lose("a statement of the handler ended its transaction");
      return {ALLOT_TRANSACTION_LOST, *lost_};
    });
  } catch (const db::DbError& error) {
    using enum db::ErrorClass;
    if (!error.is_any_of({kGone, kRetryable, kFull})) throw;
    excused_ = excused_ || error.error_class() == kGone;
    lose(std::string("the transaction was lost: ") + error.what());
    return {ALLOT_TRANSACTION_LOST, *lost_, error.number()};
  }
}

void TaskHooks::roll_back(bool excused) {
  if (!open_) return;
  excused_ = excused_ || excused;
  lose("the transaction was rolled back");
}

void TaskHooks::lose(const std::string& reason) {
  if (!lost_) lost_ = reason;
  undo();
}

void TaskHooks::undo() {
  if (!std::exchange(open_, false)) return;
  try {
    call_.session.once([](db::Connection& db) { db.roll_back(); });
  } catch (const db::DbError& error) {
    // The end of its connection ends the transaction, too. A connection that still works after an
    // error of another class is closed as well, or the next BEGIN would commit the transaction.
    log::warn("transaction.rollback_failed", {{"error", error.what()}});
    call_.session.give_up_connection();
  }
}

std::optional<queue::Fenced> TaskHooks::acknowledge(const queue::Fence& fence) {
  if (lost_) return std::nullopt;
  const queue::FencedAck ack(fence, run_.task);
  try {
    return open_ ? commit(ack) : replace(ack, fence.detached());
  } catch (const db::DbError&) {
    throw;
  } catch (const Error& error) {
    // A queue may be gone, or have another placement, since the handler named it.
    lost_ = std::string("nothing was written: ") + error.what();
    return std::nullopt;
  }
}

queue::Fenced TaskHooks::replace(const queue::FencedAck& ack, bool detached) {
  const std::uint64_t generation = call_.session.generation();
  const auto fenced = call_.session.call([&](db::Connection& db) {
    prepare_again(db);
    return ack.replace(db, successors_);
  });
  // The first try may have succeeded although its reply was lost: the task that it ended is gone.
  const bool maybe = detached && call_.session.generation() != generation;
  if (fenced == queue::Fenced::kLost && !maybe) return fenced;
  call_.submitter.ring(successors_);
  return queue::Fenced::kWritten;
}

std::optional<queue::Fenced> TaskHooks::commit(const queue::FencedAck& ack) {
  const Finally undone([this] { undo(); });  // unless it was committed
  try {
    const auto fenced = call_.session.once([&](db::Connection& db) {
      prepare_again(db);
      return ack.commit(db, successors_);
    });
    open_ = false;
    if (fenced == queue::Fenced::kLost) return fenced;
  } catch (const db::DbError& error) {
    lost_ = std::string("the transaction was lost: ") + error.what();
    if (error.error_class() != db::ErrorClass::kGone) {
      // A lock is not the task's fault; other errors are caused by its statements.
      using enum db::ErrorClass;
      excused_ = error.is_any_of({kRetryable, kFull, kDuplicate});
      return std::nullopt;
    }
    // Perhaps only the reply to COMMIT was lost: the task itself shows it.
    open_ = false;
    excused_ = true;
    if (!call_.session.call([&](db::Connection& db) { return ack.landed(db); }))
      return std::nullopt;
    lost_.reset();
  }
  call_.submitter.ring(successors_);
  return queue::Fenced::kWritten;
}

}  // namespace allot::worker
