// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"

// Last state of the slots of each instance, for people (decision 0030). The instance's steward
// writes it as JSON, which is not parsed here.
namespace allot::queue {

struct HostSnapshot {
  std::string host;
  std::string instance;
  std::string taken_at;  // UTC, ISO 8601
  std::chrono::microseconds age{0};
  std::string state;
};

void put_snapshot(db::Connection& db, const Holder& writer, const std::string& state);
// Removes the snapshot of `writer`, unless another one has written since.
void remove_snapshot(db::Connection& db, const Holder& writer);
[[nodiscard]] std::vector<HostSnapshot> list_snapshots(db::Connection& db);

}  // namespace allot::queue
