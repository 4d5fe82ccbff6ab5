// SPDX-License-Identifier: Apache-2.0
#include "bench/follow.h"

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "base/error.h"

namespace allot::bench {
namespace {

constexpr Nanos kFollowPatience = 60 * kSecond;

}  // namespace

std::string wake_section(const Stage& stage) {
  return "[wake]\nuser = " + toml_text(stage.settings().database.user) + "\n";
}

void wait_until_followed(db::Connection& db, Child& allotd, const std::string& log_file) {
  const Nanos deadline = mono_ns() + kFollowPatience;
  for (;;) {
    auto rows = db.execute(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'");
    if (rows.at(0).next()->u64(0) != 0) return;
    if (!allotd.running()) allotd.finish();
    if (mono_ns() > deadline) {
      throw Error("the steward does not follow the binary log; see " + log_file);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace allot::bench
