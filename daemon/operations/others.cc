// SPDX-License-Identifier: Apache-2.0
// Verbs that read the state of this program, and objects of no queue: notices, findings, audit.
#include <nlohmann/json.hpp>
#include <utility>

#include "db/migrate.h"
#include "json/fields.h"
#include "json/queue_json.h"
#include "operations/cursor.h"
#include "operations/verbs.h"
#include "queue/findings/finding.h"
#include "queue/notices/notice.h"

namespace allot::operations {

using nlohmann::json;

Document show_live(Call& /*call*/) {
  return answer_of({{"live", true}});
}

Document show_ready(Call& call) {
  db::require_schema(call.db(), db::Newer::kTaken);
  return answer_of({{"ready", true}});
}

Document show_openapi(Call& call) {
  Document document;
  document.text = call.service().openapi;
  return document;
}

// The subject of a notice is a queue, QUEUE/TYPE, or an object of no queue.
Document list_notices(Call& call) {
  const bool all = call.caller().may_everywhere(gateway::access::Role::kRead);
  json items = json::array();
  const auto found = call.shared("notices", Call::CacheTime::kFigures,
                                 [&](auto& db) { return queue::list_notices(db); });
  for (const queue::RaisedNotice& raised : *found) {
    const queue::Notice& notice = raised.notice;
    const std::string queue =
        queue::is_of_queue(notice.kind) ? notice.subject.substr(0, notice.subject.find('/')) : "";
    if (queue.empty() ? !all : !call.may(queue)) continue;
    items.push_back({{"kind", queue::name_of(notice.kind)},
                     {"subject", notice.subject},
                     {"queue", as_json::or_null(queue)},
                     {"detail", notice.detail},
                     {"task", as_json::or_null(notice.task)},
                     {"since", raised.since}});
  }
  return list_of(std::move(items));
}

// Returns only stored findings: a request runs no check (S90).
Document list_findings(Call& call) {
  const bool all = call.caller().may_everywhere(gateway::access::Role::kRead);
  const auto stored = call.shared("findings", Call::CacheTime::kFigures,
                                  [&](auto& db) { return queue::list_findings(db); });
  json items = json::array();
  for (const queue::Finding& finding : stored->list) {
    if (finding.queue.empty() ? !all : !call.may(finding.queue)) continue;
    items.push_back({{"level", queue::name_of(finding.level)},
                     {"check", finding.check},
                     {"queue", as_json::or_null(finding.queue)},
                     {"text", finding.text},
                     {"fix", finding.fix}});
  }
  return answer_of({{"items", std::move(items)},
                    {"checked_at", as_json::or_null(stored->checked_at)},
                    {"next", nullptr}});
}

// An entry is visible to callers who see its queue; an entry without a queue, to callers who see
// all queues.
Document list_audit(Call& call) {
  const bool all = call.caller().may_everywhere(gateway::access::Role::kRead);
  std::uint64_t before = UINT64_MAX;
  if (const auto cursor = call.maybe("cursor")) before = number_at(List::kAudit, *cursor);
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
  return list_of(std::move(items), page.next ? cursor_of(List::kAudit, *page.next) : "");
}

}  // namespace allot::operations
