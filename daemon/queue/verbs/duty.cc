// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/duty.h"

#include "queue/model/error_text.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostDutyError = 255;  // characters of queue_duty.last_error

std::string condition_of(const DutyName& duty) {
  return "queue_id = " + std::to_string(duty.queue_id) +
         " AND duty = " + db::Statement::quoted(duty.name);
}

// Kept short, because a host with many queues sends it in each round.
std::string condition_of(const DutyNames& duties) {
  if (duties.empty()) return "FALSE";
  std::map<std::uint32_t, std::vector<std::string>> names;
  for (const DutyName& duty : duties) names[duty.queue_id].push_back(duty.name);
  const auto condition = [](const auto& one) {
    return "queue_id = " + std::to_string(one.first) + " AND duty IN (" +
           db::joined(one.second, db::Statement::quoted) + ")";
  };
  return db::joined(names, condition, " OR ");
}

// As many whole characters as fit.
std::string duty_error(std::string_view raw) {
  std::string text = error_text(raw);
  std::size_t characters = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
    if (begins && characters++ == kMostDutyError) return text.substr(0, at);
  }
  return text;
}

}  // namespace

void make_duties(db::Connection& db, const DutyNames& duties) {
  std::vector<db::Statement> all;
  for (const DutyName& duty : duties) {
    all.emplace_back(sql::k_make_duty).set("queue_id", duty.queue_id).set("duty", duty.name);
  }
  if (!all.empty()) db.run(all);
}

std::vector<SeenDuty> DutyStore::watch(db::Connection& db, const DutyNames& duties) {
  db::Statement statement(sql::k_watch_duties);
  statement.set("ttl_us", kDutyTtl).set_raw("duties", condition_of(duties));
  return db.read_all<SeenDuty>(statement, [](const db::Row& row, SeenDuty& seen) {
    row.read(0, seen.duty.queue_id, seen.duty.name, seen.holder, seen.free_at, seen.over,
             seen.remaining, seen.ran_ago);
  });
}

std::size_t DutyStore::take_terms(db::Connection& db, std::span<const SeenDuty> over) const {
  if (over.empty()) return 0;
  const std::string own = "holder = " + std::to_string(holder_.id);
  const auto condition = [&](const SeenDuty& seen) {
    const std::string holder = seen.holder ? std::to_string(*seen.holder) : "NULL";
    return condition_of(seen.duty) + " AND (" + own + " OR holder <=> " + holder +
           " AND free_at = " + db::Statement::quoted(seen.free_at) + ")";
  };
  db::Statement statement(sql::k_take_duties);
  statement.set("holder", holder_.id)
      .set("host", holder_.host)
      .set("instance", holder_.instance)
      .set("pid", holder_.pid)
      .set("ttl_us", kDutyTtl)
      .set_raw("seen", db::joined(over, condition, " OR "));
  return db.run({statement}).front().affected();
}

std::size_t DutyStore::renew(db::Connection& db, const DutyNames& duties,
                             const DutyNotes& notes) const {
  std::string failed;
  for (const auto& [duty, error] : notes.failed) {
    failed +=
        "WHEN " + condition_of(duty) + " THEN " + db::Statement::quoted(duty_error(error)) + " ";
  }
  db::Statement statement(sql::k_renew_duties);
  statement.set("holder", holder_.id)
      .set("ttl_us", kDutyTtl)
      .set_raw("ran", condition_of(notes.ran))
      .set_raw("failed", std::move(failed))
      .set_raw("duties", condition_of(duties));
  return db.run({statement}).front().affected();
}

void note_viewer(db::Connection& db) {
  db::Statement statement(sql::k_note_viewer);
  statement.set("ttl_us", kDutyTtl).set("duty", kViewersDuty);
  db.run({statement});
}

std::size_t return_duties(db::Connection& db, std::uint64_t holder) {
  db::Statement statement(sql::k_return_duties);
  statement.set("holder", holder);
  return db.run({statement}).front().affected();
}

}  // namespace allot::queue
