// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"

// Instances of all hosts as they publish themselves, for people: pools once a minute, changes of
// their program or configuration, and the last state of their slots. Times are UTC, ISO 8601.
namespace allot::queue {

// A pool of an instance, and the queues that it serves.
struct ServingPool {
  std::string name;
  unsigned workers = 0;
  std::vector<std::string> queues{};  // "*": it may serve any
};

struct InstanceRow {
  std::string host;
  std::string instance;
  std::string version;
  std::string since;  // when its allotd started
  std::string seen;   // last heartbeat
  std::chrono::seconds silent{0};
  std::vector<ServingPool> pools{};  // empty: not published
};
// An instance without a heartbeat for this duration is shown as silent; it sends one each minute.
inline constexpr std::chrono::seconds kInstanceSilent{150};
[[nodiscard]] std::vector<InstanceRow> list_instances(db::Connection& db);

// Format of the column instance.pools: one line per pool with its name, the number of its workers
// and its queues, none of which contains a blank.
[[nodiscard]] std::string text_of(const std::vector<ServingPool>& pools);
[[nodiscard]] std::vector<ServingPool> pools_of(const std::string& text);

// "default@host-a" for each pool with workers of a live instance. nullopt: no live instance
// publishes its queues.
[[nodiscard]] std::optional<std::vector<std::string>> pools_that_serve(
    const std::vector<InstanceRow>& instances, const std::string& queue);

inline constexpr std::uint32_t kDeploymentsKept = 30 * 24;  // hours

// When an instance started to run another program version or another configuration.
struct Deployment {
  std::string host;
  std::string instance;
  std::string since;
  std::string version;
  std::string configuration;                      // hash of its files
  std::optional<std::string> previous_version{};  // nullopt: the former version is unknown
  std::optional<std::string> previous_configuration{};
};

// Records what this instance runs from now on; writes nothing if it ran the same before.
void put_deployment(db::Connection& db, const Holder& of, const std::string& version,
                    const std::string& configuration);
// Deployments of the last hours, newest first.
[[nodiscard]] std::vector<Deployment> list_deployments(db::Connection& db, std::uint32_t hours);

// Last state of the slots of an instance (decision 0030). Its steward writes it as JSON, which is
// not parsed here.
struct HostSnapshot {
  std::string host;
  std::string instance;
  std::string taken_at;
  std::chrono::microseconds age{0};
  std::string state;
};

void put_snapshot(db::Connection& db, const Holder& writer, const std::string& state);
// Removes the snapshot of `writer`, unless another one has written since.
void remove_snapshot(db::Connection& db, const Holder& writer);
[[nodiscard]] std::vector<HostSnapshot> list_snapshots(db::Connection& db);

}  // namespace allot::queue
