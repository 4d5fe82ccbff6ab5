// SPDX-License-Identifier: Apache-2.0
// The body of an answer to the plugin http: whatever a target sends, one of three words comes out,
// success only of what says so, and of chunks never more than may be read. And a job of Fireworq,
// and where a redirect leads.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "body_reader.h"
#include "fuzz/fuzz.h"
#include "job.h"
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
    expect(verdict.message.size() <= 3 * body.size());  // a byte that is not UTF-8 becomes three
  }
  // Any text after the answer changes it.
  if (verdict.word == http_plugin::Word::kSuccess) {
    const auto longer = http_plugin::verdict_of_body(std::string(body) + "x");
    expect(longer.word == http_plugin::Word::kFailure);
  }
}

void read_one_job(std::string_view payload) {
  try {
    const http_plugin::Job job = http_plugin::read_job(payload);
    expect(payload.ends_with(job.body));
    expect(job.body.empty() || payload[payload.size() - job.body.size() - 1] == '\n');
  } catch (const std::invalid_argument&) {
  }
}

void follow(std::string_view location) {
  const http_plugin::Hop from{http_plugin::parse_url("http://a.test/b/c?d"), true};
  try {
    const auto hop = next_hop(from, {.status = 307, .location = std::string(location)});
    expect(hop.has_value() == !location.empty());  // without one it is an answer like any other
    if (!hop) return;
    expect(hop->posts && hop->url.path.starts_with('/'));
    expect(hop->url.path.find_first_of("\r\n #") == std::string::npos);
  } catch (const http_plugin::Trouble&) {
  }
}

// The body, or nothing without a body.
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
  read_one_job(text);
  follow(text);
  const http_plugin::Answer judged = {.status = 200, .body = std::string(text)};
  expect(text_of(http_plugin::result_of(judged)).size() <= std::size_t{64} << 10);
  const http_plugin::Answer answer = {.status = 503, .retry_after = std::string(text)};
  const auto verdict = http_plugin::verdict_of_status(answer, 0);
  expect(!verdict.delay || verdict.delay->count() >= 0);
  return 0;
}
