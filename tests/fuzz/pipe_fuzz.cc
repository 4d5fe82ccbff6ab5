// SPDX-License-Identifier: Apache-2.0
// A line that a program of the plugin pipe wrote. It is refused with a message, or it is a whole
// one.
#include <cstdlib>
#include <string>

#include "fuzz/fuzz.h"
#include "json/base64.h"
#include "pipe/lines.h"

namespace {

using Kind = pipe_plugin::Said::Kind;

void expect(bool promise) {
  if (!promise) std::abort();
}

bool may_delay(const allot::Outcome& verdict) {
  return verdict.kind != ALLOT_SNOOZE || verdict.delay.has_value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  expect(allot::as_json::from_base64(allot::as_json::to_base64(text)) == text);
  if (const auto bytes = allot::as_json::from_base64(text)) {
    expect(allot::as_json::to_base64(*bytes) == text);
  }
  try {
    const auto said = pipe_plugin::read_line(text);
    expect(said.tasks.empty() || said.kind == Kind::kSubmit || said.kind == Kind::kReplace);
    expect(may_delay(said.verdict));
    for (const auto& task : said.tasks) expect(task.prio <= 3 && task.delay.count() >= 0);
    // Whatever it is called, a line for the program is one line.
    const auto line = pipe_plugin::done_line(said.id, {said.text});
    expect(line.find('\n') + 1 == line.size());
  } catch (const pipe_plugin::BadLine& bad) {
    expect(!std::string(bad.what()).empty());
  }
  return 0;
}
