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

// A state of queues, duties or schedules that needs attention and does not end by itself (C9). The
// leading steward checks for them, and `allot doctor` shows the raised ones.
namespace allot::queue {

enum class NoticeKind {
  kWaiting,       // a task of the queue has been due for long; workers have leased the queue since
  kUnserved,      // the same, but no worker of any host has leased it
  kDead,          // the queue has dead tasks
  kNoHandler,     // no handler knows a type: the subject is QUEUE/TYPE, `task` one of its tasks
  kLeader,        // a duty has no leader
  kPurge,         // the purge of a queue is behind
  kSchedule,      // a schedule fails, or drops ticks
  kSecondWriter,  // a server takes writes and is not the writer: the subject is its address
};
[[nodiscard]] std::string_view name_of(NoticeKind kind);  // "waiting", "no_handler"

// Whether the subject begins with a queue name.
[[nodiscard]] constexpr bool is_of_queue(NoticeKind kind) {
  return kind == NoticeKind::kWaiting || kind == NoticeKind::kUnserved ||
         kind == NoticeKind::kDead || kind == NoticeKind::kNoHandler || kind == NoticeKind::kPurge;
}

struct Notice {
  NoticeKind kind{};
  std::string subject;  // a queue, a duty, a schedule
  std::string detail;   // for people
  std::string task{};   // the public id of an example task; mostly empty
};

struct RaisedNotice {
  Notice notice;
  std::string since;  // UTC, ISO 8601
};

// The current notices.
std::vector<Notice> waiting_queues(db::Connection& db, std::chrono::microseconds after);
std::vector<Notice> dead_queues(db::Connection& db, std::uint32_t at_least);
std::vector<Notice> leaderless_duties(db::Connection& db, std::chrono::microseconds for_so_long);
std::vector<Notice> failing_schedules(db::Connection& db);

// The raised notices, without kinds that this build does not know.
std::vector<RaisedNotice> list_notices(db::Connection& db);

// Changes the state and submits the task about it in the same transaction: both happen once, over
// all hosts and after lost replies. False: the state was already so. `about` is validated, and its
// queue is a spread one.
bool raise_notice(db::Connection& db, const Notice& notice, const std::optional<Submission>& about);
bool clear_notice(db::Connection& db, const Notice& notice, const std::optional<Submission>& about);

}  // namespace allot::queue
