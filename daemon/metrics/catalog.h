// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/metric_type.h>

#include <cstdint>
#include <span>
#include <string_view>

// All metrics. One table yields the text, the table in docs/monitoring.md, and the test that alert
// rules and the dashboard name nothing else.
namespace allot::metrics {

enum class Metric : std::uint8_t {
  kBuild,
  // From the slots of this host.
  kDaemonUp,
  kWorkers,
  kRunning,
  kProgress,
  kUnsettled,
  kWithoutDatabase,
  kStewards,
  kTasks,
  kRuntime,
  kCrashed,
  kDetached,
  kDeferred,
  kStarts,
  kSettled,
  kLeases,
  kTakeovers,
  kLost,
  kRecovered,
  kDeadlocks,
  kLockWaits,
  // From the database.
  kDatabaseUp,
  kSnapshotAge,
  kSnapshotTook,
  kWaiting,
  kDetachedNow,
  kDead,
  kOldestDue,
  kPaused,
  kPartitions,
  kLeased,
  kOverdue,
  kQueues,
  kLateSchedules,
  kLatestSchedule,
  kHeldLocks,
  kLeaderless,
  // From the gateway.
  kRequests,
  kRequestSeconds,
};

using prometheus::MetricType;

struct Described {
  Metric metric;
  MetricType type;
  std::string_view name;
  std::span<const std::string_view> labels;
  std::string_view help;
};

// In the order of output.
[[nodiscard]] std::span<const Described> catalog();
[[nodiscard]] const Described& described(Metric metric);

}  // namespace allot::metrics
