// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "db/connection.h"

// Result of one database check. `allot doctor` prints all of them; the leading steward stores those
// that need an operator in the table `finding` (S90), where the gateway reads them.
namespace allot::queue {

enum class Level { kOk, kWarn, kFail };
[[nodiscard]] const char* name_of(Level level);  // "ok", "warn", "fail"

struct Finding {
  Level level = Level::kOk;
  std::string check;
  std::string text;
  std::string fix{};        // empty: nothing to fix
  std::string queue{};      // empty: no queue or all queues
  int code = kExitFailure;  // of a failed check: the exit code of the command
};
using Findings = std::vector<Finding>;

// Replaces all stored findings in one transaction. Findings that are in order are left out.
void store_findings(db::Connection& db, const Findings& findings);

struct StoredFindings {
  std::optional<std::string> checked_at;  // UTC, ISO 8601; nullopt: no steward has checked yet
  Findings list;
};
StoredFindings list_findings(db::Connection& db);

}  // namespace allot::queue
