// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/printable.h"

// Text formatting for people.
namespace allot::cli {

using as_json::did_you_mean;
using as_json::how_long;
using as_json::kShownError;
using as_json::printable;
using as_json::printable_lines;

// Columns as wide as their widest cell. A column whose cells are all numbers is aligned right.
class Table {
 public:
  explicit Table(std::vector<std::string> heads) : rows_{std::move(heads)} {}
  // `cells` has one cell for each head. `alarming`: the column whose cell is shown in red.
  void add(std::vector<std::string> cells, std::optional<std::size_t> alarming = {}) {
    rows_.push_back(std::move(cells));
    if (alarming) alarming_.emplace(rows_.size() - 1, *alarming);
  }
  // One line for each row, preceded by the heads; lines do not end with blanks.
  [[nodiscard]] std::string text(bool colour = false) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::map<std::size_t, std::size_t> alarming_;  // row to column
};

}  // namespace allot::cli
