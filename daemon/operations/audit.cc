// SPDX-License-Identifier: Apache-2.0
// Verb of the audit: changes made by operators.
#include <nlohmann/json.hpp>
#include <utility>

#include "json/audit_json.h"
#include "operations/cursor.h"
#include "operations/verbs.h"

namespace allot::operations {

using nlohmann::json;

// An entry is visible to callers who see its queue; an entry without a queue, to callers who see
// all queues.
Document list_audit(Call& call) {
  const bool all = call.caller().may_everywhere(gateway::access::Role::kRead);
  std::uint64_t before = UINT64_MAX;
  if (const auto cursor = call.maybe("cursor")) before = audit_entry_at(*cursor);
  const queue::AuditFilter filter{call.text("actor"), call.text("action"), call.text("subject"),
                                  call.text("name"), call.text("queue")};
  const auto may = [&](const queue::AuditEntry& entry) {
    return entry.queue ? call.may(*entry.queue) : all;
  };
  queue::AuditPage page =
      queue::page_audit(call.db(), filter, before, call.number("limit", kLimit), may);
  json items = json::array();
  for (queue::AuditEntry& entry : page.entries) {
    if (entry.to_queue && !call.may(*entry.to_queue)) entry.to_queue.reset();
    items.push_back(as_json::audit_entry(entry));
  }
  return list_of(std::move(items), page.next ? cursor_of_audit(*page.next) : "");
}

}  // namespace allot::operations
