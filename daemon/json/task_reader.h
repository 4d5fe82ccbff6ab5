// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/submit/submit.h"

namespace allot::as_json {

// The longest text of one task that is read: the largest payload with every byte written as \u00XX,
// plus the rest.
inline constexpr std::size_t kMaxLine = 6 * queue::kMaxPayload + 65'536;

// A task as its submitter wrote it. Its queue is a name; empty: a route says which.
struct NewTask {
  std::string queue;
  std::string type;
  std::string payload;
  queue::SubmitOptions options{};
};

// Where a text comes from. What comes over HTTP is not nested deeper than kMaxDepth, and may have
// its payload as base64.
enum class Source { kFile, kHttp };
inline constexpr std::size_t kMaxDepth = 100;
inline constexpr std::size_t kMaxTasks = 10'000;  // of one body

// The names that the fields of a task may have.
[[nodiscard]] const std::vector<std::string>& task_fields(Source source = Source::kFile);

// Of these the ones whose values are numbers; the others are texts.
[[nodiscard]] bool is_number_field(std::string_view name);

// Parses {"queue": ..., "type": ...} and the optional fields. A payload that is a string is
// submitted as its bytes; any other as its JSON text, without white space. nullopt for a line of
// white space. Throws Error(kExitBadInput) that names the field.
std::optional<NewTask> read_task(const std::string& text, Source source = Source::kFile);

// The body of a submission over HTTP: one such object, or an array of them. Errors as above; the
// message about one of several begins with "task 3: ", counted from 0.
struct TaskBody {
  std::vector<NewTask> tasks;
  bool several = false;  // it is an array
};
TaskBody read_body(const std::string& text);

// The field that a message of these functions, or of queue::validate(), is about; empty: none.
[[nodiscard]] std::string field_of(const std::string& message);

}  // namespace allot::as_json
