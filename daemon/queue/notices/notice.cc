// SPDX-License-Identifier: Apache-2.0
#include "queue/notices/notice.h"

#include <array>
#include <span>

#include "queue/model/error_text.h"
#include "queue/model/statements.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::array<std::string_view, 8> kNames{
    "waiting", "unserved", "dead", "no_handler", "leader", "purge", "schedule", "second_writer"};

db::Statement named(const sql::SqlText& sql, const Notice& notice) {
  db::Statement statement(sql);
  statement.set("kind", name_of(notice.kind)).set("subject", notice.subject);
  return statement;
}

// `change`, then the submission, in one packet that ends with COMMIT.
void send(db::Connection& db, std::vector<db::Statement> change,
          const std::optional<Submission>& about) {
  if (about) {
    for (db::Statement& one : submit_statements(db, {&*about, 1})) change.push_back(std::move(one));
  }
  db.transact(change);
}

bool is_raised(db::Connection& db, const Notice& notice) {
  for (const RaisedNotice& raised : list_notices(db)) {
    if (raised.notice.kind == notice.kind && raised.notice.subject == notice.subject) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(NoticeKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Notice> waiting_queues(db::Connection& db, std::chrono::microseconds after) {
  db::Statement ask(sql::k_waiting_queues);
  return db.read_all(ask.set("after_us", after), [](const db::Row& row) {
    const bool served = row.u64(2) != 0;
    return Notice{served ? NoticeKind::kWaiting : NoticeKind::kUnserved, row.string(0),
                  "a task has been due for " + row.string(1) +
                      (served ? " s" : " s, and no worker on any host has leased the queue")};
  });
}

std::vector<Notice> dead_queues(db::Connection& db, std::uint32_t at_least) {
  db::Statement ask(sql::k_dead_queues);
  ask.set("before", at_least - 1);
  return db.read_all(ask, [&](const db::Row& row) {
    return Notice{NoticeKind::kDead, row.string(0),
                  "at least " + std::to_string(at_least) + " dead"};
  });
}

std::vector<Notice> leaderless_duties(db::Connection& db, std::chrono::microseconds for_so_long) {
  db::Statement ask(sql::k_leaderless_duties);
  return db.read_all(ask.set("for_us", for_so_long), [](const db::Row& row) {
    const std::string of = row.is_null(1) ? "" : "/" + row.string(1);
    return Notice{NoticeKind::kLeader, row.string(0) + of,
                  "it has had no leader for " + row.string(2) + " s"};
  });
}

std::vector<Notice> failing_schedules(db::Connection& db) {
  return db.read_all(db::Statement(sql::k_failing_schedules), [](const db::Row& row) {
    return Notice{NoticeKind::kSchedule, row.string(0), row.string(1)};
  });
}

std::vector<RaisedNotice> list_notices(db::Connection& db) {
  std::vector<RaisedNotice> all;
  db.each_row(db::Statement(sql::k_list_notices), [&](const db::Row& row) {
    const auto kind = value_of<NoticeKind>(kNames, row.text(0));
    if (!kind) return;
    RaisedNotice& one = all.emplace_back();
    one.notice.kind = *kind;
    row.read(1, one.notice.subject, one.since, one.notice.detail, one.notice.task);
  });
  return all;
}

bool raise_notice(db::Connection& db, const Notice& notice,
                  const std::optional<Submission>& about) {
  for (int tries = 1;; ++tries) {
    db::Statement raise = named(sql::k_raise_notice, notice);
    raise.set("detail", error_text(notice.detail));
    raise.set_raw("task", notice.task.empty() ? "NULL" : db::Statement::quoted(notice.task));
    try {
      send(db, {raise}, about);
      return true;
    } catch (const db::DbError& error) {
      // The duplicate is the notice itself or, by chance, the key of the task.
      if (error.error_class() != db::ErrorClass::kDuplicate) throw;
      if (is_raised(db, notice)) return false;
      if (tries == kSaltTries) throw;
    }
  }
}

bool clear_notice(db::Connection& db, const Notice& notice,
                  const std::optional<Submission>& about) {
  try {
    send_salted([&](std::uint32_t) {
      send(db, {named(sql::k_require_notice, notice), named(sql::k_clear_notice, notice)}, about);
    });
    return true;
  } catch (const db::DbError& error) {
    if (error.number() != kOutOfRange) throw;
    return false;
  }
}

}  // namespace allot::queue
