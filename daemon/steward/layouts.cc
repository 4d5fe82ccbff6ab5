// SPDX-License-Identifier: Apache-2.0
#include "steward/layouts.h"

#include <limits>

#include "log/log.h"
#include "queue/operate/resize.h"

namespace allot::steward {
namespace {

constexpr Nanos kLayoutsEvery = 900 * kMilli;

}  // namespace

Nanos Layouts::next_ns() const {
  return queue_ids_.empty() ? std::numeric_limits<Nanos>::max() : next_ns_;
}

void Layouts::look() {
  if (boot_ns() < next_ns()) return;
  next_ns_ = boot_ns() + kLayoutsEvery;
  const std::size_t lifted =
      session_.call([&](db::Connection& db) { return queue::lift_layouts(db, queue_ids_); });
  if (lifted > 0) log::info("queue.resized", {{"queues", lifted}});
}

}  // namespace allot::steward
