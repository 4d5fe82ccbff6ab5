// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "queue/look/audit_entries.h"

// An entry of the audit as JSON: what `allot audit --json` prints is what the gateway answers.
namespace allot::as_json {

[[nodiscard]] nlohmann::json audit_entry(const queue::AuditEntry& entry);

}  // namespace allot::as_json
