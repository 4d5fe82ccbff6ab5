// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"

// Audit entries for people; model/audit.h writes them.
namespace allot::queue {

struct AuditEntry {
  std::uint64_t audit_id = 0;
  std::string at;  // UTC, ISO 8601
  std::string actor;
  std::string source;
  std::string action;
  std::string subject;
  std::string name;
  std::optional<std::string> queue{};  // nullopt: concerns no queue
  std::optional<std::string> to_queue{};
  std::optional<std::uint64_t> tasks{};
  std::string detail{};
  std::string reason{};
};

// Newest first: at most `most` entries with a number below `before`.
std::vector<AuditEntry> list_audit(db::Connection& db, std::uint64_t before, std::uint32_t most);

// An empty field matches everything.
struct AuditFilter {
  std::string actor{};
  std::string action{};
  std::string subject{};
  std::string name{};  // uses an index if `subject` is set
  std::string queue{};
};

struct AuditPage {
  std::vector<AuditEntry> entries;
  std::optional<std::uint64_t> next{};  // where the next page begins; nullopt: last page
};

// One page of at most `most` entries below `before` that pass the filter and `may`. Reads at most
// 10,000 entries, so a page may have few or none and still a `next`.
AuditPage page_audit(db::Connection& db, const AuditFilter& filter, std::uint64_t before,
                     std::uint32_t most, const std::function<bool(const AuditEntry&)>& may);

}  // namespace allot::queue
