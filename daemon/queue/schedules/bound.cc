// SPDX-License-Identifier: Apache-2.0
#include "queue/schedules/bound.h"

#include "base/mutant.h"
#include "queue/schedules/rows.h"
#include "sql/queries.h"

namespace allot::queue {

std::chrono::microseconds next_run_tolerance() {
  if (mutant::removed("next_run_tolerance")) return {};
  return std::chrono::minutes(1);
}

std::vector<FarSchedule> far_schedules(db::Connection& db, std::uint32_t after, std::size_t most) {
  db::Statement page(sql::k_far_schedules);
  page.set("after", after).set("tolerance_us", next_run_tolerance().count()).set("limit", most);
  return db.read_all(page, [](const db::Row& row) {
    FarSchedule far;
    far.schedule_id = row.u32(0);
    far.version = row.u64(1);
    far.spec.name = row.text(2);
    far.spec.expression = row.text(3);
    far.spec.zone = row.text(4);
    far.spec.jitter = std::chrono::microseconds(row.u64(5));
    far.next_run = moment_in(row, 6).value_or(Moment{});
    far.clock = moment_in(row, 7).value_or(Moment{});
    return far;
  });
}

bool reset_next_run(db::Connection& db, const FarSchedule& seen, Moment next_run) {
  db::Statement reset(sql::k_reset_schedule);
  reset.set("schedule_id", seen.schedule_id)
      .set("version", seen.version)
      .set_raw("seen_next_run", datetime(seen.next_run))
      .set_raw("next_run", datetime(next_run))
      .set_raw("due_at", datetime(due_at(seen.spec, next_run)))
      .set("tolerance_us", next_run_tolerance().count());
  return db.run({reset}).front().affected() > 0;
}

}  // namespace allot::queue
