// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "queue/model/task.h"

// Functions shared by the commands that show tasks.
namespace allot::cli {

// Writes one JSON document; bytes that are not UTF-8 are replaced.
void print(const nlohmann::json& value);

// "queue mail is paused": kind and name of an object, and what became of it. As JSON its document.
void print_change(const std::string& kind, const nlohmann::json& object, const std::string& text,
                  bool as_json);

// Throws Error(kExitUsage) for a word that is not an id.
[[nodiscard]] queue::TaskId parse_task_id(const std::string& word);

// Cause and error of a dead task or a failed attempt, as one line of at most `most` bytes.
[[nodiscard]] std::string why_text(const nlohmann::json& ended, std::size_t most);

// A measurement, or "-" if it is missing.
[[nodiscard]] std::string seconds_of(const std::optional<std::uint64_t>& us);
[[nodiscard]] std::string megabytes_of(const std::optional<std::uint64_t>& kib);

// Column heads of a task list: TASK, QUEUE, TYPE, PRIO, ATTEMPTS, BYTES and these two.
[[nodiscard]] std::vector<std::string> task_heads(const std::string& time,
                                                  const std::string& remark);
// id, queue, type, prio, attempts, bytes, time, remark.
[[nodiscard]] std::vector<std::string> view_row(const nlohmann::json& task);

// Warns on standard error that a list of `shown` rows may be incomplete, unless the output is JSON.
void say_limit(const std::string& queue, std::size_t shown, std::uint32_t limit, bool json);

}  // namespace allot::cli
