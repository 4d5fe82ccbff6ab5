// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_codes.h"
#include "db/connection.h"

// What a check of the database found. `allot doctor` prints all of them; the steward that leads
// keeps those that need an operator in the table `finding` (S90), where the gateway reads them.
namespace allot::queue {

enum class Level { kOk, kWarn, kFail };
[[nodiscard]] const char* name_of(Level level);  // "ok", "warn", "fail"

struct Finding {
  Level level = Level::kOk;
  std::string about;
  std::string text;
  std::string fix{};        // empty: nothing to fix
  std::string queue{};      // empty: it concerns no queue, or all
  int code = kExitFailure;  // of one that fails: the exit code of the command
};
using Findings = std::vector<Finding>;

// Replaces all that is stored, in one transaction. Those that are well are left out.
void store_findings(db::Connection& db, const Findings& findings);

struct StoredFindings {
  std::optional<std::string> found_at;  // UTC, ISO 8601; none: no steward has looked yet
  Findings list;
};
StoredFindings list_findings(db::Connection& db);

}  // namespace allot::queue
