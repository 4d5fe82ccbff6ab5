// SPDX-License-Identifier: Apache-2.0
#include "queue/model/audit.h"

#include <cstddef>

#include "queue/model/error_text.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostAuditText = kMaxReason;

std::optional<std::string_view> or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

std::optional<db::Statement> entry_of(const db::Connection& db, const Action& action) {
  const auto& actor = db.actor();
  if (!actor) return std::nullopt;
  db::Statement write(sql::k_write_audit);
  return write.set("actor", error_text(actor->name, kMostAuditText))
      .set("source", actor->source)
      .set("action", action.verb)
      .set("subject", action.subject)
      .set("name", error_text(action.name, kMostAuditText))
      .set("detail", error_text(action.detail, kMostAuditText))
      .set("reason", error_text(actor->reason, kMostAuditText))
      .set("operation_id", action.number == 0 ? std::nullopt : std::optional(action.number))
      .set("adds", action.adds_up)
      .set_raw("found", action.found.render());
}

std::vector<db::StatementResult> act(db::Connection& db, std::span<const Action> actions,
                                     std::span<const db::Statement> statements, Entry entry) {
  std::vector<db::Statement> packet;
  if (db.actor()) {
    for (const Action& action : actions) packet.push_back(*entry_of(db, action));
  }
  const auto entries = static_cast<std::ptrdiff_t>(packet.size());
  const bool before = entry == Entry::kBefore;
  packet.insert(before ? packet.end() : packet.begin(), statements.begin(), statements.end());
  auto results = db.transact(packet);
  // An entry is one SQL statement.
  const auto first = before ? results.begin() : results.end() - entries;
  results.erase(first, first + entries);
  return results;
}

std::vector<db::StatementResult> act(db::Connection& db, const Action& action,
                                     std::span<const db::Statement> statements, Entry entry) {
  return act(db, {&action, 1}, statements, entry);
}

db::Statement found_plain(std::string_view queue, std::string_view to_queue) {
  db::Statement part(sql::k_audit_plain);
  return part.set("of_queue", or_null(queue)).set("into_queue", or_null(to_queue));
}

}  // namespace allot::queue
