// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "queue/model/task.h"
#include "sql/queries.h"

// Rows that each statement of sql/queries may read, in the tables that plan_test.cc fills.
namespace allot::queue {

constexpr std::uint64_t kPartitions = 8;
constexpr std::uint64_t kPerClass = 1600;
constexpr std::uint64_t kTasks = kPartitions * kPrioClasses * kPerClass;  // 51,200
constexpr std::uint64_t kBlock = 100;
constexpr std::uint64_t kHistory = 300;  // number per class and partition with one
constexpr std::uint64_t kDetachedRows = kPartitions * kPrioClasses * kHistory;
constexpr std::uint64_t kDutyRows = 3;
constexpr std::uint64_t kSchedules = 900;
constexpr std::uint64_t kRoutesOfOne = 20;  // of a queue, or of any
constexpr std::uint64_t kRoutes = 10 * kRoutesOfOne;
constexpr std::uint64_t kTomorrow = std::uint64_t{1} << 62;

using Values = std::map<std::string, std::string>;

struct Expectation {
  const sql::SqlText* query;
  std::uint64_t reads;  // maximum rows read by all of the file's statements together
  Values values;        // in addition to common_values()
  const char* why = "";
  bool sorts = false;  // may sort (rows that it has read already)
  bool scans = false;  // may read a table from end to end
  bool most = false;   // needs most of the queue's rows, see support::reads_from_the_front()
};

// "prio = 0 AND run_key IN (1,2,...) OR ...": the first `count` tasks, over all classes.
std::string keys(std::size_t count, const std::string& prio, const std::string& key);
// The values with one added or replaced.
Values with(Values values, const std::string& name, const std::string& value);

std::vector<Expectation> expectations();
// Part of the statements for Fireworq's programs.
std::vector<Expectation> of_fireworq();
// Part of the audit of operators.
std::vector<Expectation> of_audit();
std::vector<Expectation> of_findings();
// Part of minutes, hours and instances.
std::vector<Expectation> of_minutes();
// Part of named locks.
std::vector<Expectation> of_locks();
// Part of routes.
std::vector<Expectation> of_routes();
// Part of tasks that were put back because a handler is missing.
std::vector<Expectation> of_deferred();
// Part of lease rows themselves, and of tasks due far ahead.
std::vector<Expectation> of_lease_rows();
// Part of the choice of the writer.
std::vector<Expectation> of_servers();

// Queries without an expectation: they are part of another one, or do not read a table.
const std::set<std::string>& without_plan();

}  // namespace allot::queue
