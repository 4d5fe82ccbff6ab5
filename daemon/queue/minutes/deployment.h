// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"
#include "queue/model/lease.h"

// When instances started to run another program version or another configuration.
namespace allot::queue {

inline constexpr std::uint32_t kDeploymentsKept = 30 * 24;  // hours

struct Deployment {
  std::string host;
  std::string instance;
  std::string since;  // UTC, ISO 8601
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

}  // namespace allot::queue
