// SPDX-License-Identifier: Apache-2.0
#include "steward/layouts.h"

#include <limits>
#include <utility>

#include "log/log.h"
#include "queue/operate/resize.h"

namespace allot::steward {
namespace {

constexpr Nanos kLayoutsEvery = 900 * kMilli;

queue::DutyName layouts_of(std::uint32_t queue_id) {
  return {queue_id, "layouts"};
}

}  // namespace

Layouts::Layouts(worker::Session& session, Leadership& leadership,
                 std::vector<std::uint32_t> queue_ids)
    : session_(session), leadership_(leadership), queue_ids_(std::move(queue_ids)) {
  for (const std::uint32_t id : queue_ids_) leadership_.want(layouts_of(id));
}

Nanos Layouts::next_ns() const {
  return queue_ids_.empty() ? std::numeric_limits<Nanos>::max() : next_ns_;
}

void Layouts::look() {
  if (boot_ns() < next_ns()) return;
  std::vector<std::uint32_t> led;
  for (const std::uint32_t id : queue_ids_) {
    if (leadership_.leads(layouts_of(id))) led.push_back(id);
  }
  if (led.empty()) {
    next_ns_ = leadership_.next_ns();
    return;
  }
  next_ns_ = boot_ns() + kLayoutsEvery;
  const std::size_t lifted =
      session_.call([&](db::Connection& db) { return queue::lift_layouts(db, led); });
  for (const std::uint32_t id : led) leadership_.ran(layouts_of(id));
  if (lifted > 0) log::info("queue.resized", {{"queues", lifted}});
}

}  // namespace allot::steward
