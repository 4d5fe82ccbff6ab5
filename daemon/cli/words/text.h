// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/rows.h"
#include "json/printable.h"

// Text formatting for people, and the choice between text and JSON.
namespace allot::cli {

using as_json::how_long;
using as_json::kShownError;
using as_json::printable;
using as_json::printable_lines;
using config::did_you_mean;

// A field as one safe line of at most `most` bytes; "" if it is null or missing.
[[nodiscard]] std::string cell_of(const nlohmann::json& document, const char* field,
                                  std::size_t most = kShownError);

// Column of a table of documents, or line of one document.
struct Column {
  using Cell = std::function<std::string(const nlohmann::json&)>;
  using Alarming = std::function<bool(const nlohmann::json&)>;  // the cell is shown in red

  // The field as cell_of() shows it.
  Column(std::string name, const char* field, Alarming alarms = {});
  Column(std::string name, Cell shown, Alarming alarms = {});

  std::string head;
  Cell cell;
  Alarming alarming;
};
// One line for each item, preceded by the heads; lines do not end with blanks. Columns are as wide
// as their widest cell; one whose cells are all numbers is aligned right.
[[nodiscard]] std::string table_of(const nlohmann::json& items, const std::vector<Column>& columns,
                                   bool colour = false);

// Prints one document, a line for each cell that is not empty; `width` of the heads.
void print_fields(const nlohmann::json& document, int width, const std::vector<Column>& fields);

// Prints documents as a table, or with --json as they are. Returns kExitOk.
int print_list(const nlohmann::json& items, bool as_json, const std::vector<Column>& columns);
// The table below other output, unless it is empty.
void print_below(const nlohmann::json& items, const std::vector<Column>& columns);

// "since 2026-...: reason", of a pause or an error in a document.
[[nodiscard]] std::string since_text(const nlohmann::json& state, const char* reason = "reason");

void replace_all(std::string& text, std::string_view from, std::string_view to);
// The text as one word of a shell, in quotes.
[[nodiscard]] std::string shell_word(std::string text);

// Writes one JSON document; bytes that are not UTF-8 are replaced.
void print(const nlohmann::json& value);
void print(const nlohmann::ordered_json& value);

// With --json the document, else what `say` prints. Returns kExitOk.
template <typename Json>
int print_as(bool as_json, const Json& document, const std::function<void()>& say) {
  if (as_json) {
    print(document);
  } else {
    say();
  }
  return 0;
}

// "queue mail is paused": kind and name of an object, and what became of it. With --json its
// document. Returns kExitOk.
int print_change(const std::string& kind, const nlohmann::json& object, const std::string& text,
                 bool as_json);

}  // namespace allot::cli
