// SPDX-License-Identifier: Apache-2.0
#include "queue/views/health.h"

#include "queue/model/duty.h"
#include "sql/queries.h"

namespace allot::queue {

std::vector<HeldLease> held_leases(db::Connection& db, std::uint32_t most) {
  db::Statement statement(sql::k_list_leases);
  statement.set("limit", most);
  return db.read_all<HeldLease>(statement, [](const db::Row& row, HeldLease& lease) {
    row.read(0, lease.queue, lease.partition_no, lease.host, lease.instance, lease.pid,
             lease.origin, lease.until, lease.overdue, lease.silent_since);
  });
}

std::vector<DutyView> list_duties(db::Connection& db) {
  db::Statement statement(sql::k_list_duties);
  statement.set("viewers", kViewersDuty).set("ttl_us", kDutyTtl);
  return db.read_all<DutyView>(statement, [](const db::Row& row, DutyView& view) {
    row.read(0, view.queue_id, view.queue, view.duty, view.led);
    if (view.queue_id > 0 && row.is_null(1)) view.queue = "#" + row.string(0);
    if (view.led) row.read(4, view.host, view.instance, view.pid, view.since);
    row.read(8, view.last_run, view.last_error, view.leaderless);
  });
}

std::string name_of(const DutyView& duty) {
  return duty.queue_id == 0 ? duty.duty : duty.queue + "/" + duty.duty;
}

}  // namespace allot::queue
