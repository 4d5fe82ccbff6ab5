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

Level level_of(std::string_view name) {
  return name == "fail" ? Level::kFail : Level::kWarn;
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
  auto results = db.run({db::Statement(sql::k_list_findings)});
  StoredFindings stored;
  while (const auto row = results.front().next()) {
    stored.checked_at = row->string(1);
    if (row->u64(0) == 0) continue;  // the row has only the time
    Finding& finding = stored.list.emplace_back();
    finding.level = level_of(row->text(2));
    finding.check = row->text(3);
    finding.queue = row->text(4);
    finding.text = row->text(5);
    finding.fix = row->text(6);
  }
  return stored;
}

}  // namespace allot::queue
