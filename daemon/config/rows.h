// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "config/settings.h"

// The rows of settings.def as data, for messages and documents.
namespace allot::config {

// Name of the kind for people: "whole number", "duration".
[[nodiscard]] std::string_view name_of(Kind kind);

// A value in the syntax of the file, which is valid JSON: "text", 5, true, ["a", "b"], "30s". Only
// weights are not: { "a" = 3 }.
[[nodiscard]] std::string written(Kind kind, const std::string& text);
[[nodiscard]] std::string written(Kind kind, std::uint32_t number);
[[nodiscard]] std::string written(Kind kind, bool flag);
[[nodiscard]] std::string written(Kind kind, const std::vector<std::string>& texts);
[[nodiscard]] std::string written(Kind kind, const std::map<std::string, std::uint32_t>& weights);
[[nodiscard]] std::string written(Kind kind, milliseconds duration);
[[nodiscard]] std::string written(Kind kind, const std::vector<milliseconds>& durations);

// Valid words for a value of this kind; empty if the kind is not a word.
[[nodiscard]] const std::vector<std::string_view>& words_of(Kind kind);

// "debug, info, warn or error".
[[nodiscard]] std::string joined(const std::vector<std::string_view>& words);

struct Row {
  std::string_view header;  // of the section: "[queues.NAME]"
  Kind kind;
  std::string_view key;
  std::string initial;  // the default, as written in the file
  std::string range;    // "1 to 4096", "off or on"; empty if unlimited
  std::string_view unit;
  std::string_view sentence;
};

// All rows, in the order of settings.def.
[[nodiscard]] const std::vector<Row>& rows();

// "90s" -> 90'000 ms. Accepts only digits and one of ms, s, m, h, d; no value on overflow.
[[nodiscard]] std::optional<milliseconds> parse_duration(std::string_view text);

// RFC 3339: "2027-01-31T18:00:00Z", "2027-01-31T18:00:00.5+01:00". Throws Error that says what is
// wrong; the time zone is required.
using Moment = std::chrono::sys_time<std::chrono::microseconds>;
[[nodiscard]] Moment read_moment(const std::string& text);

// The same in whole seconds, or "2027-01-31", which means its midnight in UTC.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_time(const std::string& text);

// The shortest form with a whole number: "90s", "2m", "0s".
[[nodiscard]] std::string text_of(milliseconds duration);

[[nodiscard]] std::string lower(std::string text);

// True for a text of ASCII letters, digits and the characters of `also`; not empty.
[[nodiscard]] bool is_word(std::string_view text, std::string_view also);

// "; did you mean 'x'?" with the nearest candidate, or nothing.
template <typename Text>
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<Text>& candidates) {
  constexpr std::size_t kLongest = 100;  // the comparison takes the product of the lengths
  const std::string_view near = word.size() > kLongest ? "" : nearest(word, candidates);
  return near.empty() ? "" : "; did you mean '" + std::string(near) + "'?";
}

}  // namespace allot::config
