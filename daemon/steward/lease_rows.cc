// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "log/log.h"
#include "queue/model/catalog.h"
#include "queue/operate/resize.h"
#include "steward/chores.h"

namespace allot::steward {
namespace {

constexpr Nanos kRowsEvery = 30 * kSecond;
constexpr Nanos kLayoutsEvery = 900 * kMilli;

}  // namespace

Chore lease_rows(process::Session& session) {
  const auto run = [&session](bool /*fresh*/) {
    const auto filled = ask(session, [](db::Connection& db) { return queue::fill_holes(db); });
    for (const queue::QueueHoles& queue : filled) {
      log::warn("partitions.filled", {{"queue", queue.queue}, {"partitions", queue.missing}});
    }
    const auto bounded = ask(session, [](db::Connection& db) { return queue::bound_releases(db); });
    if (bounded > 0) log::warn("releases.reset", {{"partitions", bounded}});
    return kDone;
  };
  return {.name = "lease_rows",
          .duties = {{0, "schedules"}},
          .every = kRowsEvery,
          .run_once = run,
          .reports = false};
}

// One statement for all queues.
std::vector<Chore> layouts(process::Session& session, const Leadership& leadership,
                           const std::vector<Served>& served) {
  std::vector<queue::DutyName> duties;
  for (const Served& queue : served) {
    if (!queue.by_this_host || !queue.info.is_keyed()) continue;
    duties.push_back({queue.info.queue_id, "layouts"});
  }
  if (duties.empty()) return {};
  const auto run = [&session, &leadership, duties](bool /*fresh*/) {
    std::vector<std::uint32_t> led;
    for (const queue::DutyName& duty : duties) {
      if (leadership.leads(duty)) led.push_back(duty.queue_id);
    }
    const std::size_t lifted =
        ask(session, [&](db::Connection& db) { return queue::lift_layouts(db, led); });
    if (lifted > 0) log::info("queue.resized", {{"queues", lifted}});
    return kDone;
  };
  return {{.name = "layouts", .duties = duties, .every = kLayoutsEvery, .run_once = run}};
}

}  // namespace allot::steward
