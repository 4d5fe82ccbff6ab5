// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/submit/submit.h"

namespace allot::as_json {

// Limit of the text of one task: the largest payload with every byte written as \u00XX, plus the
// other fields.
inline constexpr std::size_t kMaxLine = 6 * queue::kMaxPayload + 65'536;

// Source of a text. HTTP input is nested at most kMaxDepth deep, and may have its payload as
// base64.
enum class Source { kFile, kHttp };
inline constexpr std::size_t kMaxDepth = 100;
inline constexpr std::size_t kMaxTasks = 10'000;  // limit per body

// The permitted field names of a task.
[[nodiscard]] const std::vector<std::string>& task_fields(Source source = Source::kFile);

// Parses {"queue": ..., "type": ...} and the optional fields. A string payload is submitted as its
// bytes, any other payload as its JSON text without white space. nullopt for a line of white space.
// Throws Error(kExitBadInput) that names the field.
std::optional<queue::Submission> read_task(const std::string& text, Source source = Source::kFile);

// The body of a submission over HTTP: one such object, or an array of them. Same errors; for an
// array the message begins with "task 3: ", counted from 0.
struct TaskBody {
  std::vector<queue::Submission> tasks;
  bool several = false;  // the body is an array
};
TaskBody read_body(const std::string& text, Source source = Source::kHttp,
                   bool takes_several = true);

// The task with this payload, and its other fields as text. Same errors.
[[nodiscard]] queue::Submission task_of(
    const std::map<std::string, std::string, std::less<>>& fields, std::string payload);

// The field named in an error message of these functions or of queue::validate(); empty: none.
[[nodiscard]] std::string field_of(const std::string& message);

}  // namespace allot::as_json
