// SPDX-License-Identifier: Apache-2.0
#include "cli/sources/schedules.h"

#include "base/error.h"
#include "cli/sources/calendar.h"
#include "cli/sources/queues.h"
#include "cli/words/text.h"

namespace allot::cli {

void check_queue(db::Connection& db, const config::Settings& settings,
                 const queue::ScheduleSpec& spec) {
  auto info = queue::find_queue(db, spec.queue);
  if (!info) {
    const config::Queue* configured = config::find_queue(settings, spec.queue);
    if (configured == nullptr) {
      static_cast<void>(queue_named(db, settings, spec.queue));  // the error lists the queues
      return;
    }
    info = queue::QueueInfo{0, spec.queue, queue::shape_of(*configured)};
  }
  queue::validate(spec, *info);
}

queue::Put put_spec(db::Connection& db, const config::Settings& settings,
                    const queue::ScheduleSpec& spec) {
  const Calendar calendar(spec.expression, spec.zone);
  static_cast<void>(queue_named(db, settings, spec.queue));
  return queue::put_schedule(db, spec, calendar.next(queue::database_now(db)));
}

}  // namespace allot::cli
