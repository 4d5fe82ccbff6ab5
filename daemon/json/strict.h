// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The single reader of foreign JSON, also used by plugins. Refuses input that two readers may
// interpret differently: repeated keys, text behind the value, numbers beyond the range of a
// double.
namespace allot::as_json {

// With a field, the message is a sentence about it, such as "'rate' occurs twice"; otherwise it
// describes the text, such as "not JSON, at byte 7".
class BadJson : public std::runtime_error {
 public:
  BadJson(const std::string& what, std::string field)
      : std::runtime_error(what), field_(std::move(field)) {}
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  std::string field_;
};

// Reads a single value with nothing behind it, and at most `most_depth` nested objects and arrays.
// Throws BadJson.
[[nodiscard]] nlohmann::json read_strict(std::string_view text, std::size_t most_depth);

// The error at the parser's position; `number`: a number out of range, in `field`.
[[nodiscard]] BadJson bad_json(std::size_t position, std::string_view message, bool number,
                               const std::string& field);

// Tracks the keys of open objects, for event-based readers.
class OpenKeys {
 public:
  void open() { open_.emplace_back(); }
  void close() { open_.pop_back(); }
  // False: the innermost object already has this key.
  [[nodiscard]] bool add(const std::string& name) {
    last_ = name;
    return open_.back().insert(name).second;
  }
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string last_;
};

}  // namespace allot::as_json
