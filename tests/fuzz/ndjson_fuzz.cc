// SPDX-License-Identifier: Apache-2.0
// A task as JSON: as a line of NDJSON, as a body, and as an array of one. It is refused for what it
// says, or it is the same task in all three.
#include <cstdlib>
#include <optional>
#include <string>

#include "base/error.h"
#include "fuzz/fuzz.h"
#include "json/task_reader.h"

namespace {

namespace as_json = allot::as_json;

void expect(bool promise) {
  if (!promise) std::abort();
}

// Nothing: it was refused, with a message for its submitter.
template <typename Read>
auto read_or_refuse(Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const allot::Error& error) {
    expect(error.exit_code() == allot::kExitBadInput);
    expect(!std::string(error.what()).empty());
    static_cast<void>(as_json::field_of(error.what()));
    return std::nullopt;
  }
}

bool same(const allot::queue::Submission& one, const allot::queue::Submission& other) {
  return one.named == other.named && one.type == other.type && one.payload == other.payload &&
         one.options.unique_key == other.options.unique_key &&
         one.options.partition_key == other.options.partition_key &&
         one.options.prio == other.options.prio;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto line =
      read_or_refuse([&] { return as_json::read_task(text, as_json::Source::kHttp); });
  const auto body = read_or_refuse([&] { return as_json::read_body(text); });
  static_cast<void>(read_or_refuse([&] { return as_json::read_task(text); }));
  if (!line || !*line) return 0;  // refused, or an empty line
  expect(body && !body->several && body->tasks.size() == 1);
  expect(same(**line, body->tasks.front()));
  const auto array = read_or_refuse([&] { return as_json::read_body("[" + text + "]"); });
  expect(array && array->several && array->tasks.size() == 1);
  expect(same(**line, array->tasks.front()));
  return 0;
}
