// SPDX-License-Identifier: Apache-2.0
#include "cli/words/text.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/words/terminal.h"

namespace allot::cli {
namespace {

template <typename Json>
void print_json(const Json& value) {
  std::printf("%s\n", value.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

bool is_number(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789+") == std::string::npos;
}

struct Row {
  std::vector<std::string> cells{};
  std::optional<std::size_t> alarming{};  // the column whose cell is shown in red
};

// `rows` begins with the heads.
std::string text_of(const std::vector<Row>& rows, bool colour) {
  const std::size_t columns = rows.front().cells.size();
  std::vector<std::size_t> widths(columns, 0);
  std::vector<bool> right(columns, rows.size() > 1);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], row.cells[i].size());
      if (&row != &rows.front() && !is_number(row.cells[i])) right[i] = false;
    }
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string blanks(widths[i] - row.cells[i].size(), ' ');
      const std::string cell =
          coloured(row.cells[i], row.alarming == i ? Colour::kRed : Colour::kNone, colour);
      line += (i == 0 ? "" : "  ") + (right[i] ? blanks + cell : cell + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += coloured(line, &row == &rows.front() ? Colour::kBold : Colour::kNone, colour) + "\n";
  }
  return out;
}

}  // namespace

std::string cell_of(const nlohmann::json& document, const char* field, std::size_t most) {
  const auto value = document.find(field);
  if (value == document.end() || value->is_null()) return "";
  return value->is_string() ? printable(value->get<std::string>(), most) : value->dump();
}

std::string since_text(const nlohmann::json& state, const char* reason) {
  const std::string why = cell_of(state, reason);
  return "since " + cell_of(state, "since") + (why.empty() ? "" : ": " + why);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::string shell_word(std::string text) {
  replace_all(text, "'", "'\\''");
  return "'" + text + "'";
}

Column::Column(std::string name, const char* field, Alarming alarms)
    : Column(
          std::move(name), [field](const auto& document) { return cell_of(document, field); },
          std::move(alarms)) {}

Column::Column(std::string name, Cell shown, Alarming alarms)
    : head(std::move(name)), cell(std::move(shown)), alarming(std::move(alarms)) {}

std::string table_of(const nlohmann::json& items, const std::vector<Column>& columns, bool colour) {
  std::vector<Row> rows(1);
  for (const Column& column : columns) rows.front().cells.push_back(column.head);
  for (const nlohmann::json& item : items) {
    Row& row = rows.emplace_back();
    for (const Column& column : columns) {
      if (column.alarming && column.alarming(item)) row.alarming = row.cells.size();
      row.cells.push_back(column.cell(item));
    }
  }
  return text_of(rows, colour);
}

void print_fields(const nlohmann::json& document, int width, const std::vector<Column>& fields) {
  for (const Column& field : fields) {
    const std::string text = field.cell(document);
    if (!text.empty()) std::printf("%-*s %s\n", width, field.head.c_str(), text.c_str());
  }
}

int print_list(const nlohmann::json& items, bool as_json, const std::vector<Column>& columns) {
  return print_as(as_json, items, [&] {
    std::printf("%s", table_of(items, columns, wants_colour(STDOUT_FILENO)).c_str());
  });
}

void print_below(const nlohmann::json& items, const std::vector<Column>& columns) {
  if (items.empty()) return;
  std::printf("\n%s", table_of(items, columns, wants_colour(STDOUT_FILENO)).c_str());
}

int print_change(const std::string& kind, const nlohmann::json& object, const std::string& text,
                 bool as_json) {
  return print_as(as_json, object, [&] {
    std::printf("%s %s %s\n", kind.c_str(), cell_of(object, "name").c_str(), text.c_str());
  });
}

void print(const nlohmann::json& value) {
  print_json(value);
}

void print(const nlohmann::ordered_json& value) {
  print_json(value);
}

}  // namespace allot::cli
