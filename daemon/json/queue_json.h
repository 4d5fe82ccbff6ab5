// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "queue/locks/lock_store.h"
#include "queue/model/catalog.h"
#include "queue/model/dead_letter.h"
#include "queue/model/task_facts.h"
#include "queue/operate/bulk_action.h"
#include "queue/operate/route.h"
#include "queue/schedules/schedule.h"
#include "queue/views/audit_entries.h"
#include "queue/views/health.h"

// All objects except tasks as JSON, the same for `allot ... --json` and the gateway.
namespace allot::as_json {

[[nodiscard]] nlohmann::json queue(const queue::QueueInfo& queue);
// null: not paused, without a rate.
[[nodiscard]] nlohmann::json pause(const queue::QueueInfo& queue);
[[nodiscard]] nlohmann::json rate(const queue::QueueInfo& queue);

[[nodiscard]] nlohmann::json audit_entry(const queue::AuditEntry& entry);
[[nodiscard]] nlohmann::json bulk_action(const queue::BulkAction& action);

// A number, or {"at_least": bound}.
[[nodiscard]] nlohmann::json count(const queue::BoundedCount& count);

[[nodiscard]] nlohmann::json dead_group(const queue::DeadGroup& group, const std::string& queue);

[[nodiscard]] nlohmann::json route(const queue::Route& route);

// An active lease, as one of the partitions of its queue.
[[nodiscard]] nlohmann::json lease(const queue::HeldLease& lease);

[[nodiscard]] nlohmann::json lock(const queue::LockSummary& lock);
[[nodiscard]] nlohmann::json lock(const std::string& name, const queue::LockView& lock);
[[nodiscard]] nlohmann::json lock_slot(const queue::LockSlotView& slot);

// The parameters of a schedule, except its name and payload; null: not set.
[[nodiscard]] nlohmann::json schedule_spec(const queue::ScheduleSpec& spec);
// All fields except the payload, which lists omit.
[[nodiscard]] nlohmann::json schedule(const queue::Schedule& schedule);
// Adds the payload; if it is not text, as base64 in a separate field.
void add_payload(nlohmann::json& view, const std::string& payload);
// null: not set.
[[nodiscard]] nlohmann::json moment(const std::optional<queue::Moment>& moment);
[[nodiscard]] nlohmann::json tick(const queue::ScheduleTick& tick);

using queue::moment_text;
// "90s", or "17us" if no unit of the configuration is exact.
[[nodiscard]] std::string span_text(std::chrono::microseconds span);

}  // namespace allot::as_json
