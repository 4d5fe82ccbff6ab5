// SPDX-License-Identifier: Apache-2.0
#include "cli/words/text.h"

#include <algorithm>
#include <cstdio>

#include "cli/words/terminal.h"

namespace allot::cli {
namespace {

bool is_number(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789+") == std::string::npos;
}

}  // namespace

std::string Table::text(bool colour) const {
  const std::size_t columns = rows_.front().size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, rows_.size() > 1);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    for (std::size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], rows_[row][i].size());
      if (row > 0 && !is_number(rows_[row][i])) right[i] = false;
    }
  }
  std::string out;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const auto alarming = alarming_.find(row);
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string blanks(widths[i] - rows_[row][i].size(), ' ');
      const bool red = alarming != alarming_.end() && alarming->second == i;
      const std::string cell = coloured(rows_[row][i], red ? Colour::kRed : Colour::kNone, colour);
      line += (i == 0 ? "" : "  ") + (right[i] ? blanks + cell : cell + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += coloured(line, row == 0 ? Colour::kBold : Colour::kNone, colour) + "\n";
  }
  return out;
}

}  // namespace allot::cli
