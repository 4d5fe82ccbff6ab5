// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "db/gateway/fixture.h"
#include "db/gateway/reads.h"

namespace allot::gateway::api {

// A bounded scan of 10,000 rows, page by page, starts one extra page to see whether there are more.
inline constexpr std::uint64_t kOnePage = 1'100;

// A database whose queue mail has many tasks of each kind.
class ManyRowsTest : public GatewayTest {
 protected:
  // Adds waiting, running, dead and done tasks: rows `first` to `last` of each, over the four
  // partitions.
  void fill(std::uint64_t first, std::uint64_t last) {
    const std::string queue = value("SELECT queue_id FROM queue WHERE name = 'mail'");
    each_numbers(first, last, [&](const std::string& from) {
      const std::string key = "SELECT " + queue + ", seq MOD 4, 1, seq";
      observer_.execute("INSERT INTO task (queue_id, partition_no, prio, run_key, type, payload) " +
                        key + ", 'a', ''" + from);
      observer_.execute(
          "INSERT INTO task_running (queue_id, partition_no, prio, first_key, run_key, attempt, "
          "flags, type, payload, epoch, lock_by, lock_origin, lock_host, lock_instance, lock_pid, "
          "expire_at, detached_at) " +
          key +
          ", seq, 1, 0, 'a', '', 1, 1, 1, 'h', 'i', 1, UTC_TIMESTAMP(6) + INTERVAL 1 HOUR,"
          " UTC_TIMESTAMP(6)" +
          from);
      observer_.execute(
          "INSERT INTO task_dead (queue_id, partition_no, prio, first_key, attempt, type, payload, "
          "cause, error, fault, died_at) " +
          key +
          ", 1, 'a', '', 'failed', CONCAT('error ', seq MOD 7), 'error #',"
          " UTC_TIMESTAMP(6) - INTERVAL seq SECOND" +
          from);
      observer_.execute(
          "INSERT INTO task_history (queue_id, partition_no, prio, first_key, attempt, type, "
          "ended_at, lock_host, lock_pid) " +
          key + ", 1, 'a', UTC_TIMESTAMP(6) - INTERVAL seq SECOND, 'h', 1" + from);
    });
  }
  void analyze() { observer_.execute("ANALYZE TABLE task, task_running, task_dead, task_history"); }
};

}  // namespace allot::gateway::api
