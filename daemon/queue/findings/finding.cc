// SPDX-License-Identifier: Apache-2.0
#include "queue/findings/finding.h"

#include <algorithm>
#include <array>

#include "queue/model/error_text.h"
#include "sql/queries.h"

namespace allot::queue {
namespace {

constexpr std::size_t kMostFindings = 1'000;
constexpr std::size_t kMostFindingText = 1'000;  // bytes of a column
constexpr std::size_t kMostFindingAbout = 255;
constexpr std::array<const char*, 3> kLevels{"ok", "warn", "fail"};

std::string quoted_text(const std::string& text, std::size_t most) {
  return db::Statement::quoted(error_text(text, most));
}

std::string row_of(std::size_t row_no, const Finding& finding) {
  return ",(" + std::to_string(row_no) + ",UTC_TIMESTAMP(6),'" + name_of(finding.level) + "'," +
         quoted_text(finding.check, kMostFindingAbout) + "," +
         (finding.queue.empty() ? "NULL" : db::Statement::quoted(finding.queue)) + "," +
         quoted_text(finding.text, kMostFindingText) + "," +
         quoted_text(finding.fix, kMostFindingText) + ")";
}

}  // namespace

const char* name_of(Level level) {
  return kLevels.at(static_cast<std::size_t>(level));
}

void store_findings(db::Connection& db, const Findings& findings) {
  std::string rows;
  std::size_t row_no = 0;
  for (const Finding& finding : findings) {
    if (finding.level == Level::kOk || row_no == kMostFindings) continue;
    rows += row_of(++row_no, finding);
  }
  db::Statement store(sql::k_store_findings);
  store.set_raw("more_rows", rows);
  db.transact({&store, 1});
}

StoredFindings list_findings(db::Connection& db) {
  StoredFindings stored;
  db.each_row(db::Statement(sql::k_list_findings), [&](const db::Row& row) {
    stored.checked_at = row.string(1);
    if (row.u64(0) == 0) return;  // the row has only the time
    Finding& finding = stored.list.emplace_back();
    finding.level = row.text(2) == "fail" ? Level::kFail : Level::kWarn;
    row.read(3, finding.check, finding.queue, finding.text, finding.fix);
  });
  return stored;
}

}  // namespace allot::queue
