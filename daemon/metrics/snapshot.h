// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "db/connection.h"
#include "metrics/page.h"
#include "queue/views/figures.h"
#include "thread/mutex.h"

namespace allot::metrics {

// State of the database at one moment.
struct Snapshot {
  Nanos at_ns = 0;  // CLOCK_BOOTTIME
  Nanos took_ns = 0;
  std::optional<queue::Figures> figures{};  // nullopt: the database did not answer
};

// db: nullptr without a connection. An error does not throw, but gives a snapshot without figures
// and calls `failed`.
[[nodiscard]] Snapshot take_snapshot(db::Connection* db,
                                     const std::function<void(const std::exception&)>& failed = {});

void add_snapshot(Page& page, const Snapshot& snapshot, Nanos now);

// The last snapshot, while it is fresh: however many scrapes there are, the database is asked once
// in that time. Any thread may call it.
class Snapshots {
 public:
  using Taken = std::shared_ptr<const Snapshot>;

  explicit Snapshots(Nanos good_for) : good_for_(good_for) {}

  // A fresh snapshot, or the last one if another thread is about to renew it. nullptr: the caller
  // has to take one and must call put() in any case. Until then no other caller gets nullptr,
  // unless there was no snapshot before.
  [[nodiscard]] Taken get(Nanos now) ALLOT_EXCLUDES(mutex_);
  Taken put(Snapshot snapshot) ALLOT_EXCLUDES(mutex_);

 private:
  const Nanos good_for_;
  Mutex mutex_;
  Taken last_ ALLOT_GUARDED_BY(mutex_);
  bool renewing_ ALLOT_GUARDED_BY(mutex_) = false;
};

}  // namespace allot::metrics
