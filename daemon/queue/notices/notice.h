// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.h"
#include "queue/submit/submit.h"

// What somebody should know of (C9): a state of the queues, duties or schedules that does not go
// away by itself. The steward that leads looks for these, and `allot doctor` shows those that are
// raised.
namespace allot::queue {

enum class NoticeKind {
  kWaiting,    // a task of the queue has been due for long, and workers have leased the queue since
  kUnserved,   // the same, and no worker of any host has
  kDead,       // the queue has dead tasks
  kNoHandler,  // no handler knows a type: the subject is QUEUE/TYPE, and `task` the task
  kLeader,     // nobody leads a duty
  kPurge,      // the purge of a queue is behind
  kSchedule,   // a schedule fails, or drops ticks
  kSecondWriter,  // a server takes writes and is not the writer: the subject is its place
};
[[nodiscard]] std::string_view name_of(NoticeKind kind);  // "waiting", "no_handler"

// Whether the subject begins with the name of a queue.
[[nodiscard]] constexpr bool is_of_queue(NoticeKind kind) {
  return kind == NoticeKind::kWaiting || kind == NoticeKind::kUnserved ||
         kind == NoticeKind::kDead || kind == NoticeKind::kNoHandler || kind == NoticeKind::kPurge;
}

struct Notice {
  NoticeKind kind{};
  std::string subject;  // a queue, a duty, a schedule
  std::string detail;   // for people
  std::string task{};   // the public id of the task that shows it; mostly empty
};

struct RaisedNotice {
  Notice notice;
  std::string since;  // UTC, ISO 8601
};

// What is so now.
std::vector<Notice> waiting_queues(db::Connection& db, std::chrono::microseconds after);
std::vector<Notice> dead_queues(db::Connection& db, std::uint32_t at_least);
std::vector<Notice> leaderless_duties(db::Connection& db, std::chrono::microseconds for_so_long);
std::vector<Notice> failing_schedules(db::Connection& db);

// Those that are raised. Of a kind that this build does not know: none.
std::vector<RaisedNotice> list_notices(db::Connection& db);

// Changes the state, and submits the task about it in the same transaction: both happen once, over
// all hosts and after lost replies. False: the state was that already. `about` is validated, and
// its queue is a spread one.
bool raise_notice(db::Connection& db, const Notice& notice, const std::optional<Submission>& about);
bool clear_notice(db::Connection& db, const Notice& notice, const std::optional<Submission>& about);

}  // namespace allot::queue
