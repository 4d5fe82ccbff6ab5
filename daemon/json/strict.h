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

// JSON that others wrote, read in one way at every door; plugins have it as well. What two readers
// may understand differently is refused: a key that is there twice, text behind the value, a number
// that no double holds.
namespace allot::as_json {

// With a field it is a sentence about that field, such as "'rate' is there twice"; else what the
// text is, such as "not JSON, at byte 7".
class BadJson : public std::runtime_error {
 public:
  BadJson(const std::string& what, std::string field)
      : std::runtime_error(what), field_(std::move(field)) {}
  [[nodiscard]] const std::string& field() const { return field_; }

 private:
  std::string field_;
};

// Reads one value and nothing behind it, with at most `most_depth` objects and arrays around
// another. Throws BadJson.
[[nodiscard]] nlohmann::json read_strict(std::string_view text, std::size_t most_depth);

// What is wrong where the parser stopped; `number`: at one that is out of range, in `field`.
[[nodiscard]] BadJson bad_json(std::size_t position, std::string_view message, bool number,
                               const std::string& field);

// The keys of the objects that are open, for those who read event by event.
class OpenKeys {
 public:
  void open() { open_.emplace_back(); }
  void close() { open_.pop_back(); }
  // False: the innermost object has it already.
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
