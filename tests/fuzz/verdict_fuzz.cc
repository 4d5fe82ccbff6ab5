// SPDX-License-Identifier: Apache-2.0
// The body of an answer to the plugin http: whatever a target sends, one of three words comes out,
// success only of what says so, and of chunks never more than may be read.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "body_reader.h"
#include "fuzz/fuzz.h"
#include "trouble.h"
#include "verdict.h"

namespace {

void expect(bool promise) {
  if (!promise) std::abort();
}

void judge(std::string_view body) {
  const auto verdict = http_plugin::verdict_of_body(body);
  if (verdict.word != http_plugin::Word::kFailure) {
    // An escape may spell the word.
    const bool spelled = body.find('\\') != std::string_view::npos;
    const auto* const word =
        verdict.word == http_plugin::Word::kSuccess ? "\"success\"" : "\"permanent-failure\"";
    expect(spelled || body.find(word) != std::string_view::npos);
    expect(verdict.message.size() <= body.size());
  }
  // Whatever stands behind the answer makes it another one.
  if (verdict.word == http_plugin::Word::kSuccess) {
    const auto longer = http_plugin::verdict_of_body(std::string(body) + "x");
    expect(longer.word == http_plugin::Word::kFailure);
  }
}

// The body, or nothing where it is none.
std::string chunks(std::string_view text, std::size_t piece) {
  constexpr std::size_t kMost = 100;
  std::string body;
  const auto read = [text, piece](char* to, std::size_t size) mutable {
    const std::size_t got = text.copy(to, std::min(size, piece));
    text.remove_prefix(got);
    return got;
  };
  try {
    const bool whole = http_plugin::BodyReader(read, kMost, body).chunks();
    expect(body.size() <= kMost && (whole || body.size() == kMost));
    return body + (whole ? "." : "...");
  } catch (const http_plugin::Trouble&) {
    expect(body.size() <= kMost);
    return {};
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  judge(text);
  expect(chunks(text, 1) == chunks(text, 1000));  // however it comes
  const http_plugin::Answer answer = {.status = 503, .retry_after = std::string(text)};
  const auto verdict = http_plugin::verdict_of_status(answer, 0);
  expect(!verdict.delay || verdict.delay->count() >= 0);
  return 0;
}
