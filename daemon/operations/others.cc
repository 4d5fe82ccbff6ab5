// SPDX-License-Identifier: Apache-2.0
// Verbs that read objects of no queue: notices, routes, locks.
#include <nlohmann/json.hpp>
#include <utility>

#include "json/printable.h"
#include "json/queue_json.h"
#include "operations/refusal.h"
#include "operations/verbs.h"
#include "queue/findings/finding.h"
#include "queue/locks/lock.h"
#include "queue/locks/lock_store.h"
#include "queue/notices/notice.h"
#include "queue/operate/route.h"

namespace allot::operations {

using nlohmann::json;

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
                     {"queue", queue.empty() ? json() : json(queue)},
                     {"detail", notice.detail},
                     {"task", notice.task.empty() ? json() : json(notice.task)},
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
                     {"queue", finding.queue.empty() ? json() : json(finding.queue)},
                     {"text", finding.text},
                     {"fix", finding.fix}});
  }
  return answer_of({{"items", std::move(items)},
                    {"checked_at", stored->checked_at ? json(*stored->checked_at) : json()},
                    {"next", nullptr}});
}

Document list_routes(Call& call) {
  json items = json::array();
  for (const queue::Route& route : queue::list_routes(call.db())) {
    items.push_back(as_json::route(route));
  }
  return list_of(std::move(items));
}

Document list_locks(Call& call) {
  json items = json::array();
  for (const queue::LockSummary& lock : queue::list_locks(call.db())) {
    items.push_back(as_json::lock(lock));
  }
  return list_of(std::move(items));
}

Document show_lock(Call& call) {
  const std::string name = call.text("lock");
  queue::validate_lock_name(name);
  const auto lock = queue::show_lock(call.db(), name);
  if (!lock) {
    refuse(404, "unknown lock '" + as_json::printable(name, queue::kMaxLockName) + "'", "lock");
  }
  return answer_of(as_json::lock(name, *lock));
}

}  // namespace allot::operations
