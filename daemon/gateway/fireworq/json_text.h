// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

// JSON as Fireworq's programs write it, read where its bytes stand: a payload is passed on as it
// came, with numbers of any size. Pure functions; they need no more of the stack for what is deep.
namespace allot::gateway::fireworq {

inline constexpr std::size_t kMostDepth = 10'000;

// What is wrong with a text, in one line.
class BadJson : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The first value of `text`, without the white space around it; what follows it is not looked at.
// Throws BadJson, "EOF" where there is none.
[[nodiscard]] std::string_view first_value(std::string_view text);
// Whether `text` is one value, and nothing else but white space.
[[nodiscard]] bool is_json(std::string_view text);

// Goes through the members of an object, as first_value() returned it.
class Members {
 public:
  explicit Members(std::string_view object);
  // False: that was the last one.
  [[nodiscard]] bool next();
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] std::string_view value() const { return value_; }

 private:
  std::string_view left_;
  std::string key_;
  std::string_view value_;
};

// Whether two keys are the same but for the case of their letters.
[[nodiscard]] bool same_key(std::string_view a, std::string_view b);

// The text of a string, as first_value() returned it. What is no UTF-8, and half of a pair of
// surrogates, becomes U+FFFD. nullopt: it is no string.
[[nodiscard]] std::optional<std::string> string_of(std::string_view value);
// A whole number from 0 to 2^32 - 1, written as digits alone.
[[nodiscard]] std::optional<std::uint32_t> count_of(std::string_view value);
// Any number that a double holds.
[[nodiscard]] std::optional<double> number_of(std::string_view value);

// A JSON string of these bytes; what is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace allot::gateway::fireworq
