// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <utility>

#include "base/clock.h"
#include "queue/locks/lock_store.h"
#include "support/database.h"
#include "support/eventually.h"
#include "support/rewriting_proxy.h"
#include "support/temp_dir.h"

namespace allot::queue {

// A host whose lock query arrives late by more than the locks' TTL and a second, as if the host had
// been cut off while the statement was in transit. During that time the holder of a lock, on
// another host, renews it regularly.
class LateLook {
 public:
  // Delays the first statement that contains `words`.
  LateLook(const std::string& database, std::string words, const HeldLock& lock)
      : words_(std::move(words)),
        lock_(lock),
        holder_(support::Database::shared().connect(database)) {}

  // Connects through that host's network.
  [[nodiscard]] db::ConnectOptions by_way_of_it(db::ConnectOptions options) const {
    options.socket = proxy_.socket();
    return options;
  }
  [[nodiscard]] bool was_late() const { return late_; }
  // The holder relies on the lock: the server must agree.
  [[nodiscard]] bool still_held() { return renew_lock(holder_, lock_); }

 private:
  std::string pass(std::string sql) {
    if (sql.find(words_) == std::string::npos || late_.exchange(true)) return sql;
    const Nanos until = boot_ns() + static_cast<Nanos>(lock_.ttl.count()) * kMilli + 1100 * kMilli;
    Nanos renew_at = 0;
    EXPECT_TRUE(support::eventually([&] {
      if (boot_ns() < renew_at) return false;
      renew_at = boot_ns() + kSecond / 4;
      EXPECT_TRUE(renew_lock(holder_, lock_));
      return boot_ns() >= until;
    }));
    return sql;
  }

  const std::string words_;
  const HeldLock lock_;
  db::Connection holder_;
  std::atomic<bool> late_ = false;
  support::TempDir folder_;
  support::RewritingProxy proxy_{folder_ / "p", support::Database::shared().socket(),
                                 [this](std::string sql) { return pass(std::move(sql)); }};
};

}  // namespace allot::queue
