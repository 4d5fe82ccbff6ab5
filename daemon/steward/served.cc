// SPDX-License-Identifier: Apache-2.0
#include "steward/served.h"

#include <optional>
#include <utility>

#include "config/hooks.h"
#include "config/served.h"
#include "log/log.h"

namespace allot::steward {

std::vector<Served> served_by(process::Session& session, const config::Settings& settings) {
  std::vector<Served> served;
  for (const config::Queue& queue : settings.queues) {
    const bool here = config::is_served(settings, queue.name);
    if (!here && queue.on_stuck.empty()) continue;
    auto info = session.call([&](db::Connection& db) {
      return queue::ensure_queue(db, queue.name, queue::shape_of(queue));
    });
    served.push_back({std::move(info), &queue, here});
  }
  return served;
}

void check_hooks(process::Session& session, const config::Settings& settings,
                 const std::vector<Served>& served) {
  for (const Served& queue : served) {
    for (const std::string* hook : {&queue.keys->on_dead, &queue.keys->on_stuck}) {
      const auto target = config::hook_target(*hook);
      if (!target) continue;
      const config::Queue* described = config::find_queue(settings, target->queue);
      const auto there = session.call([&](db::Connection& db) -> std::optional<queue::QueueInfo> {
        if (described == nullptr) return queue::find_queue(db, target->queue);
        return queue::ensure_queue(db, target->queue, queue::shape_of(*described));
      });
      if (there && there->shape.placement == queue::Placement::kSpread) continue;
      log::error("hook.unusable",
                 {{"queue", queue.info.name},
                  {"hook", *hook},
                  {"reason", there ? "queue " + target->queue + " is " +
                                         queue::text_of(there->shape) + ", not spread"
                                   : "unknown queue " + target->queue}});
    }
  }
}

}  // namespace allot::steward
