// SPDX-License-Identifier: Apache-2.0
#include "json/audit_json.h"

#include <nlohmann/json.hpp>

namespace allot::as_json {

using nlohmann::json;

json audit_entry(const queue::AuditEntry& entry) {
  const auto maybe = [](const auto& value) { return value ? json(*value) : json(nullptr); };
  return {{"entry", entry.audit_id},
          {"at", entry.at},
          {"actor", entry.actor},
          {"source", entry.source},
          {"action", entry.action},
          {"subject", entry.subject},
          {"name", entry.name},
          {"queue", maybe(entry.queue)},
          {"to_queue", maybe(entry.to_queue)},
          {"tasks", maybe(entry.tasks)},
          {"detail", entry.detail},
          {"reason", entry.reason}};
}

}  // namespace allot::as_json
