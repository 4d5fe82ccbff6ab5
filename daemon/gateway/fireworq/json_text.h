// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

// Reads JSON in place as Fireworq does: a payload is passed on byte by byte, with numbers of any
// size. Pure functions; nesting does not use the stack.
namespace allot::gateway::fireworq {

inline constexpr std::size_t kMostDepth = 10'000;

// Describes a syntax error, in one line.
class BadJson : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The first value of `text`, without surrounding white space; text behind it is ignored. Throws
// BadJson, "EOF" without a value.
[[nodiscard]] std::string_view first_value(std::string_view text);
// Whether `text` is a single value with optional white space around it.
[[nodiscard]] bool is_json(std::string_view text);

// Iterates over the members of an object returned by first_value().
class Members {
 public:
  explicit Members(std::string_view object);
  // False: no further member.
  [[nodiscard]] bool next();
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  std::string_view left_;
  std::string key_;
  std::string_view value_;
};

// Compares two keys without regard to case.
[[nodiscard]] bool same_key(std::string_view a, std::string_view b);

// The text of a string returned by first_value(). Invalid UTF-8 and unpaired surrogates become
// U+FFFD. nullopt: not a string.
[[nodiscard]] std::optional<std::string> string_of(std::string_view value);
// Any number in the range of a double.
[[nodiscard]] std::optional<double> number_of(std::string_view value);

// A JSON string of these bytes; invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace allot::gateway::fireworq
