// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Configuration file as plain data with line numbers, so that only one source depends on toml++.
namespace allot::config {

struct Problem {
  std::uint32_t line;  // 0 = the file as a whole
  std::string text;
};
using Problems = std::vector<Problem>;

struct Node {
  enum class Type { kText, kInteger, kReal, kFlag, kTime, kList, kTable };

  std::string key;  // empty in a list
  std::uint32_t line = 0;
  Type type = Type::kTable;
  std::string text;            // for kText; any other scalar as written in the file
  std::int64_t number = 0;     // for kInteger
  bool flag = false;           // for kFlag
  std::vector<Node> children;  // for kList and kTable, in the order of the file

  [[nodiscard]] const Node* find(std::string_view child_key) const;
};

// "text", "a whole number", "a section"...
[[nodiscard]] std::string_view name_of(Node::Type type);

// Returns an empty table and adds one problem if `text` is not valid TOML.
[[nodiscard]] Node parse_toml(std::string_view text, Problems& problems);

}  // namespace allot::config
