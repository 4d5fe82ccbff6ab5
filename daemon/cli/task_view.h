// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "queue/cancel_request.h"
#include "queue/history.h"
#include "queue/inspect.h"

// What the commands that look at tasks have in common.
namespace allot::cli {

// Writes one JSON document; bytes that are no UTF-8 are replaced.
void print(const nlohmann::json& value);

// Throws Error(kExitUsage) for a word that is no id.
[[nodiscard]] queue::TaskId parse_task_id(const std::string& word);

// "waiting", "running" (detached) or "dead".
[[nodiscard]] const char* state_of(const queue::TaskView& task);

// Cause and error of a dead task, as one line of at most `most` bytes.
[[nodiscard]] std::string why_dead(const queue::TaskView& task, std::size_t most);

// What somebody asked of a task that runs, as one line.
[[nodiscard]] std::string cancel_text(const queue::CancelRequest& request);

[[nodiscard]] nlohmann::json view_json(const queue::TaskView& task, const std::string& queue);

[[nodiscard]] nlohmann::json done_json(const queue::Done& done, const std::string& queue);

// What somebody measured, or "-" and null.
[[nodiscard]] std::string seconds_of(const std::optional<std::uint64_t>& us);
[[nodiscard]] std::string megabytes_of(const std::optional<std::uint64_t>& kib);
[[nodiscard]] nlohmann::json json_of(const std::optional<std::uint64_t>& value);

// id, queue, type, prio, attempts, bytes, time, remark.
[[nodiscard]] std::vector<std::string> view_row(const queue::TaskView& task,
                                                const std::string& queue);

// Says on standard error that a list of `shown` rows may have been cut. Not beside JSON.
void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json);

}  // namespace allot::cli
