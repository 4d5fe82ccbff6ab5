// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"

// When instances began to run another version of the program, or another configuration.
namespace allot::queue {

inline constexpr std::uint32_t kDeploymentsKept = 30 * 24;  // hours

struct Deployment {
  std::string host;
  std::string instance;
  std::string since;  // UTC, ISO 8601
  std::string version;
  std::string configuration;                    // the mark of its files
  std::optional<std::string> former_version{};  // nullopt: nothing is known of what ran before
  std::optional<std::string> former_configuration{};
};

// What this instance runs from now on; writes nothing where it ran the same before.
void put_deployment(db::Connection& db, const Holder& of, const std::string& version,
                    const std::string& configuration);
// Of the last hours, the newest first.
[[nodiscard]] std::vector<Deployment> list_deployments(db::Connection& db, std::uint32_t hours);

}  // namespace allot::queue
