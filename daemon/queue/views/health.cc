// SPDX-License-Identifier: Apache-2.0
#include "queue/views/health.h"

#include "queue/model/duty.h"
#include "sql/queries.h"

namespace allot::queue {

std::vector<HeldLease> held_leases(db::Connection& db, std::uint32_t most) {
  db::Statement statement(sql::k_list_leases);
  statement.set("limit", most);
  return db.read_all(statement, [](const db::Row& row) {
    return HeldLease{row.string(0),
                     row.u32(1),
                     row.string(2),
                     row.string(3),
                     static_cast<std::uint32_t>(row.maybe_u64(4).value_or(0)),
                     row.maybe_u64(5).value_or(0),
                     row.string(6),
                     row.u64(7) != 0,
                     row.maybe_text(8)};
  });
}

std::vector<DutyView> list_duties(db::Connection& db) {
  db::Statement statement(sql::k_list_duties);
  statement.set("viewers", kViewersDuty);
  statement.set("ttl_us", std::chrono::microseconds(kDutyTtl).count());
  auto results = db.run({statement});
  std::vector<DutyView> duties;
  while (const auto row = results.front().next()) {
    DutyView view;
    view.queue_id = row->u32(0);
    if (view.queue_id > 0) view.queue = row->maybe_text(1).value_or("#" + row->string(0));
    view.duty = row->text(2);
    view.led = row->u64(3) != 0;
    if (view.led) {
      view.host = row->text(4);
      view.instance = row->text(5);
      view.pid = row->u32(6);
      view.since = row->maybe_text(7);
    }
    view.last_run = row->maybe_text(8);
    view.last_error = row->maybe_text(9);
    if (const auto gone = row->maybe_u64(10)) view.leaderless = std::chrono::seconds(*gone);
    duties.push_back(std::move(view));
  }
  return duties;
}

FarTasks far_tasks(db::Connection& db, std::chrono::microseconds after) {
  db::Statement places(sql::k_far_places);
  places.set("after_us", after.count());
  auto results = db.run({places});
  FarTasks far;
  while (const auto row = results.front().next()) {
    if (far.last.empty()) far.last = row->text(3);
    if (far.count >= kMostFarTasks) break;
    db::Statement count(sql::k_count_far);
    count.set("queue_id", row->u64(0))
        .set("partition_no", row->u64(1))
        .set("prio", row->u64(2))
        .set("after_us", after.count())
        .set("limit", kMostFarTasks - far.count);
    auto counted = db.run({count});
    if (const auto number = counted.front().next()) far.count += number->u64(0);
  }
  return far;
}

std::string name_of(const DutyView& duty) {
  return duty.queue_id == 0 ? duty.duty : duty.queue + "/" + duty.duty;
}

}  // namespace allot::queue
