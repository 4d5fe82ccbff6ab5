// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/words/text.h"
#include "queue/model/task.h"

// Functions shared by the commands that show tasks.
namespace allot::cli {

// Throws Error(kExitUsage) for a word that is not an id.
[[nodiscard]] queue::TaskId parse_task_id(const std::string& word);
// "/tasks/ID"; throws as parse_task_id() does.
[[nodiscard]] std::string task_path(const std::string& word);

// Cause and error of a dead task or a failed attempt, as one line of at most `most` bytes.
[[nodiscard]] std::string why_text(const nlohmann::json& ended, std::size_t most);

// A measurement, or "-" if it is missing.
[[nodiscard]] std::string seconds_of(const nlohmann::json& us);
[[nodiscard]] std::string megabytes_of(const nlohmann::json& kib);

// Columns of a list of tasks that are waiting, running or dead.
[[nodiscard]] std::vector<Column> task_columns(const std::string& time, const std::string& remark);
// Usage of a run: RAN, CPU, MEMORY and WORKER.
void add_usage(std::vector<Column>& columns);

// Warns on standard error that a list of `shown` rows may be incomplete, unless the output is JSON.
void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json);

}  // namespace allot::cli
