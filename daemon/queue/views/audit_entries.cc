// SPDX-License-Identifier: Apache-2.0
#include "queue/views/audit_entries.h"

#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::uint32_t kEntriesAtOnce = 1000;
constexpr std::uint32_t kMostEntries = 10'000;

void read_entry(const db::Row& row, AuditEntry& entry) {
  row.read(0, entry.audit_id, entry.at, entry.actor, entry.source, entry.action, entry.subject,
           entry.name, entry.queue, entry.to_queue, entry.tasks, entry.detail, entry.reason);
}

std::vector<AuditEntry> list_audit_of(db::Connection& db, const AuditFilter& filter,
                                      std::uint64_t before, std::uint32_t most) {
  db::Statement list(sql::k_list_audit_of);
  list.set("subject", filter.subject)
      .set("name", filter.name)
      .set("before", before)
      .set("limit", most);
  return db.read_all<AuditEntry>(list, read_entry);
}

bool fits(const std::string& wanted, const std::string& value) {
  return wanted.empty() || wanted == value;
}

bool passes(const AuditFilter& filter, const AuditEntry& entry) {
  return fits(filter.actor, entry.actor) && fits(filter.action, entry.action) &&
         fits(filter.subject, entry.subject) && fits(filter.name, entry.name) &&
         fits(filter.queue, entry.queue.value_or(""));
}

}  // namespace

std::vector<AuditEntry> list_audit(db::Connection& db, std::uint64_t before, std::uint32_t most) {
  db::Statement list(sql::k_list_audit);
  list.set("before", before).set("limit", most);
  return db.read_all<AuditEntry>(list, read_entry);
}

AuditPage page_audit(db::Connection& db, const AuditFilter& filter, std::uint64_t before,
                     std::uint32_t most, const std::function<bool(const AuditEntry&)>& may) {
  const bool by_subject = !filter.subject.empty() && !filter.name.empty();
  AuditPage page;
  for (std::uint32_t examined = 0; examined < kMostEntries; examined += kEntriesAtOnce) {
    const auto entries = by_subject ? list_audit_of(db, filter, before, kEntriesAtOnce)
                                    : list_audit(db, before, kEntriesAtOnce);
    for (const AuditEntry& entry : entries) {
      before = entry.audit_id;
      if (!passes(filter, entry) || !may(entry)) continue;
      page.entries.push_back(entry);
      if (page.entries.size() == most) {
        page.next = before;
        return page;
      }
    }
    if (entries.size() < kEntriesAtOnce) return page;
  }
  page.next = before;
  return page;
}

}  // namespace allot::queue
