// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "json/why.h"
#include "queue/look/history.h"
#include "queue/look/inspect.h"

// Functions shared by the commands that show tasks.
namespace allot::cli {

using as_json::cancel_text;
using as_json::why_dead;

// Writes one JSON document; bytes that are not UTF-8 are replaced.
void print(const nlohmann::json& value);

// Throws Error(kExitUsage) for a word that is not an id.
[[nodiscard]] queue::TaskId parse_task_id(const std::string& word);

// Throws Error: no live or dead task has this id.
[[noreturn]] void refuse_unknown(const queue::TaskId& id);

// A measurement, or "-" if it is missing.
[[nodiscard]] std::string seconds_of(const std::optional<std::uint64_t>& us);
[[nodiscard]] std::string megabytes_of(const std::optional<std::uint64_t>& kib);

// Column heads of a task list: TASK, QUEUE, TYPE, PRIO, ATTEMPTS, BYTES and these two.
[[nodiscard]] std::vector<std::string> task_heads(const std::string& time,
                                                  const std::string& remark);
// id, queue, type, prio, attempts, bytes, time, remark.
[[nodiscard]] std::vector<std::string> view_row(const queue::TaskView& task,
                                                const std::string& queue);

// Warns on standard error that a list of `shown` rows may be incomplete, unless the output is JSON.
void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json);

}  // namespace allot::cli
