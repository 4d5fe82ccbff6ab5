// SPDX-License-Identifier: Apache-2.0
// A connection's bytes: heads, bodies and chunks, one request behind the other, in two ways at
// once: all there at the same time, and byte by byte. Both must see the same requests and the same
// end.
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz.h"
#include "gateway/http/head_check.h"
#include "gateway/http/request_parser.h"

namespace {

namespace http = allot::gateway::http;

constexpr std::size_t kMostBody = 1'000;

void expect(bool promise) {
  if (!promise) std::abort();
}

// The request as the code behind the server sees it, as one text.
std::string text_of(const http::Head& head, const std::string& body) {
  std::string text = head.method + " " + head.path + "?" + head.query + "\n";
  for (const auto& each : head.fields) text += each.name + ":" + each.value + "\n";
  return text + body + "\n";
}

// The rules of the head that all later code relies on, checked again.
void expect_sound(const http::Head& head, const http::RequestParser& parser) {
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  for (const auto& each : head.fields) {
    hosts += each.name == "host" ? 1U : 0U;
    lengths += each.name == "content-length" ? 1U : 0U;
    codings += each.name == "transfer-encoding" ? 1U : 0U;
    expect(each.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    expect(!each.name.empty() && each.name.find_first_of(" \t:") == std::string::npos);
  }
  expect(hosts == 1);
  expect(lengths + codings <= 1);
  // The parser agrees with the check on how long the body is.
  expect(parser.content_length().has_value() == (codings == 0));
  expect(head.path.starts_with('/'));
  expect(head.fields.size() <= 100);
}

// Plays the server's part of reading, as http/session.cc does, with `step` bytes at a time.
std::string read_all(std::string_view bytes, std::size_t step) {
  std::string in;
  std::string seen;
  std::size_t next = 0;
  const auto more = [&] {
    if (next >= bytes.size()) return false;
    in += bytes.substr(next, step);
    next += step;
    return true;
  };
  for (;;) {
    std::size_t length = 0;
    while ((length = http::head_length(in)) == 0) {
      if (!more()) return seen + "end in head";
    }
    const std::string_view text(in.data(), length);
    if (const auto fault = http::check_head(text, {})) {
      return seen + "fault " + std::to_string(fault->status);
    }
    http::RequestParser parser;
    if (parser.read_head(text)) return seen + "fault of the parser";
    in.erase(0, length);
    const http::Head head = parser.take_head();
    expect_sound(head, parser);
    if (parser.content_length().value_or(0) > kMostBody) return seen + "too large";
    parser.bound_body(kMostBody);
    while (!parser.done()) {
      const auto result = parser.read_body(in);
      expect(result.used <= in.size());
      // Which of the two it is may depend on the pieces: behind a quote that nothing ends the
      // parser waits. Neither is a request.
      if (result.fault) return seen + "no whole body";
      in.erase(0, result.used);
      if (!parser.done() && !more()) return seen + "no whole body";
    }
    expect(parser.body().size() <= kMostBody);
    seen += text_of(head, parser.body());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // Beyond it a chunk's trailers are too long only where they come in pieces.
  if (bytes.size() > std::size_t{4} << 10) return 0;
  const std::string whole = read_all(bytes, bytes.size() + 1);
  expect(read_all(bytes, 1) == whole);
  expect(read_all(bytes, 7) == whole);
  return 0;
}
