// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Texts for people.
namespace allot::cli {

// One line that is safe on a terminal: control characters and bytes that are no UTF-8 are escaped,
// what is longer than `most` bytes is cut.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

// The member of `known` that was most likely meant, as "; did you mean 'x'?", or nothing.
[[nodiscard]] std::string did_you_mean(const std::string& word,
                                       const std::vector<std::string>& known);

// "532 ms", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 11 h".
[[nodiscard]] std::string how_long(std::uint64_t ms);

// Columns as wide as their widest cell. A column whose cells are all numbers is aligned right.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) : rows_{std::move(heads)} {}
  // As many cells as there are heads.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // One line for each row, the heads first; no blanks at the end of a line.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace allot::cli
