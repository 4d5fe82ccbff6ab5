// SPDX-License-Identifier: Apache-2.0
#include "queue/verbs/duty.h"

#include "queue/model/error_text.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostDutyError = 255;  // characters of queue_duty.last_error

std::int64_t duty_ttl_us() {
  return std::chrono::microseconds(kDutyTtl).count();
}

std::string condition_of(const DutyName& duty) {
  return "queue_id = " + std::to_string(duty.queue_id) +
         " AND duty = " + db::Statement::quoted(duty.name);
}

// Kept short, because a host with many queues sends it in each round.
std::string condition_of(const DutyNames& duties) {
  if (duties.empty()) return "FALSE";
  std::map<std::uint32_t, std::string> names;
  for (const DutyName& duty : duties) {
    std::string& list = names[duty.queue_id];
    list += (list.empty() ? "" : ",") + db::Statement::quoted(duty.name);
  }
  std::string all;
  for (const auto& [queue_id, list] : names) {
    all += (all.empty() ? "" : " OR ") + ("queue_id = " + std::to_string(queue_id)) +
           " AND duty IN (" + list + ")";
  }
  return all;
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
  statement.set("ttl_us", duty_ttl_us()).set_raw("duties", condition_of(duties));
  auto results = db.run({statement});
  std::vector<SeenDuty> all;
  while (const auto row = results.front().next()) {
    SeenDuty seen;
    seen.duty = {row->u32(0), row->string(1)};
    seen.holder = row->maybe_u64(2);
    seen.free_at = row->text(3);
    seen.over = row->u64(4) != 0;
    seen.remaining = std::chrono::microseconds(row->u64(5));
    if (const auto ago = row->maybe_u64(6)) seen.ran_ago = std::chrono::microseconds(*ago);
    all.push_back(std::move(seen));
  }
  return all;
}

std::size_t DutyStore::take_terms(db::Connection& db, std::span<const SeenDuty> over) const {
  if (over.empty()) return 0;
  const std::string own = "holder = " + std::to_string(holder_.id);
  std::string all;
  for (const SeenDuty& seen : over) {
    const std::string holder = seen.holder ? std::to_string(*seen.holder) : "NULL";
    all += (all.empty() ? "" : " OR ") + condition_of(seen.duty) + " AND (" + own +
           " OR holder <=> " + holder + " AND free_at = " + db::Statement::quoted(seen.free_at) +
           ")";
  }
  db::Statement statement(sql::k_take_duties);
  statement.set("holder", holder_.id)
      .set("host", holder_.host)
      .set("instance", holder_.instance)
      .set("pid", holder_.pid)
      .set("ttl_us", duty_ttl_us())
      .set_raw("seen", std::move(all));
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
      .set("ttl_us", duty_ttl_us())
      .set_raw("ran", condition_of(notes.ran))
      .set_raw("failed", std::move(failed))
      .set_raw("duties", condition_of(duties));
  return db.run({statement}).front().affected();
}

void note_viewer(db::Connection& db) {
  db::Statement statement(sql::k_note_viewer);
  statement.set("ttl_us", duty_ttl_us()).set("duty", kViewersDuty);
  db.run({statement});
}

std::size_t return_duties(db::Connection& db, std::uint64_t holder) {
  db::Statement statement(sql::k_return_duties);
  statement.set("holder", holder);
  return db.run({statement}).front().affected();
}

}  // namespace allot::queue
