// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "queue/views/audit_entries.h"

// Audit entries as JSON, the same for `allot audit --json` and the gateway.
namespace allot::as_json {

[[nodiscard]] nlohmann::json audit_entry(const queue::AuditEntry& entry);

}  // namespace allot::as_json
