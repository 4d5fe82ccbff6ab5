// SPDX-License-Identifier: Apache-2.0
// The word that says where a page of a list ended, as a client sends it back: refused, or a place
// of that list, which has one word again. The input is the word, and what the word encodes.
#include <cstdlib>
#include <string>
#include <string_view>

#include "fuzz/fuzz.h"
#include "json/base64.h"
#include "operations/cursor.h"
#include "operations/document.h"

namespace {

namespace api = allot::operations;

void expect(bool promise) {
  if (!promise) std::abort();
}

// A statement gets a time from it, never a client's text.
void expect_moment(const std::string& at) {
  expect(at.empty() || at.size() == std::string_view("2026-11-24T04:00:00.000000Z").size());
  expect(at.find_first_not_of("0123456789-:.TZ") == std::string::npos);
}

void take(std::string_view word) {
  for (const auto list : {api::List::kWaiting, api::List::kRunning, api::List::kDead}) {
    try {
      const auto place = api::task_at(list, word);
      expect_moment(place.at);
      const std::string own = api::cursor_of(list, place);
      expect(api::cursor_of(list, api::task_at(list, own)) == own);
    } catch (const api::Refusal& refusal) {
      expect(refusal.problem().status == 400);
    }
  }
  try {
    const auto place = api::done_at(word);
    expect_moment(place.ended_at);
    const std::string own = api::cursor_of(place);
    expect(api::cursor_of(api::done_at(own)) == own);
  } catch (const api::Refusal& refusal) {
    expect(refusal.problem().status == 400);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  take(text);
  take(allot::as_json::to_base64url(std::string(text)));
  return 0;
}
