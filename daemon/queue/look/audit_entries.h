// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/connection.h"

// What operators did, for people; model/audit.h writes it.
namespace allot::queue {

struct AuditEntry {
  std::uint64_t audit_id = 0;
  std::string at;  // UTC, ISO 8601
  std::string who;
  std::string door;
  std::string action;
  std::string subject;
  std::string name;
  std::optional<std::string> queue{};  // none: it belongs to no queue
  std::optional<std::string> to_queue{};
  std::optional<std::uint64_t> tasks{};
  std::string detail{};
  std::string reason{};
};

// The newest first: at most `most` with a number below `before`.
std::vector<AuditEntry> list_audit(db::Connection& db, std::uint64_t before, std::uint32_t most);

// Empty: any.
struct AuditFilter {
  std::string who{};
  std::string action{};
  std::string subject{};
  std::string name{};  // with a subject it goes by an index
  std::string queue{};
};

struct AuditPage {
  std::vector<AuditEntry> entries;
  std::optional<std::uint64_t> next{};  // where the next page begins; none: this is the last one
};

// One page of at most `most` entries below `before` that the filter and `may` let through. It looks
// at 10,000 entries at most, so it may have few or none and still a `next`.
AuditPage page_audit(db::Connection& db, const AuditFilter& filter, std::uint64_t before,
                     std::uint32_t most, const std::function<bool(const AuditEntry&)>& may);

}  // namespace allot::queue
