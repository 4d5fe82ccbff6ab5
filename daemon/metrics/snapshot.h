// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "db/connection.h"
#include "metrics/page.h"
#include "queue/look/figures.h"
#include "thread/mutex.h"

namespace allot::metrics {

// What the database showed at one moment.
struct Snapshot {
  Nanos at_ns = 0;  // CLOCK_BOOTTIME
  Nanos took_ns = 0;
  std::optional<queue::Figures> figures{};  // nullopt: the database did not answer
};

// db: nullptr where there is no connection. An error is no exception here, but a snapshot without
// figures; `failed` is told of it.
[[nodiscard]] Snapshot take_snapshot(db::Connection* db,
                                     const std::function<void(const std::exception&)>& failed = {});

void add_snapshot(Page& page, const Snapshot& snapshot, Nanos now);

// The last snapshot, for as long as it is good: however many scrapes there are, the database is
// asked for one in that time. Any thread may call it.
class Snapshots {
 public:
  using Taken = std::shared_ptr<const Snapshot>;

  explicit Snapshots(Nanos good_for) : good_for_(good_for) {}

  // One that is good, or, where another thread is about to renew it, the last one. nullptr: the
  // caller has to take one, and to put() it in any case; until then nobody else is told so, unless
  // there was none before.
  [[nodiscard]] Taken get(Nanos now) ALLOT_EXCLUDES(mutex_);
  Taken put(Snapshot snapshot) ALLOT_EXCLUDES(mutex_);

 private:
  const Nanos good_for_;
  Mutex mutex_;
  Taken last_ ALLOT_GUARDED_BY(mutex_);
  bool renewing_ ALLOT_GUARDED_BY(mutex_) = false;
};

}  // namespace allot::metrics
