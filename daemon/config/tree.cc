// SPDX-License-Identifier: Apache-2.0
#include "config/tree.h"

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace allot::config {
namespace {

Node::Type type_of(const toml::node& in) {
  switch (in.type()) {
    case toml::node_type::string:
      return Node::Type::kText;
    case toml::node_type::integer:
      return Node::Type::kInteger;
    case toml::node_type::floating_point:
      return Node::Type::kReal;
    case toml::node_type::boolean:
      return Node::Type::kFlag;
    case toml::node_type::array:
      return Node::Type::kList;
    case toml::node_type::table:
      return Node::Type::kTable;
    default:
      return Node::Type::kTime;
  }
}

std::string written(const toml::node& in) {
  std::ostringstream out;
  in.visit([&out](const auto& value) { out << value; });
  return out.str();
}

Node converted(const toml::node& in) {
  Node node;
  node.line = in.source().begin.line;
  node.type = type_of(in);
  if (const toml::table* table = in.as_table()) {
    for (const auto& [key, value] : *table) {
      Node& child = node.children.emplace_back(converted(value));
      child.key = key.str();
      child.line = key.source().begin.line;
    }
    // toml++ sorts by key.
    std::stable_sort(node.children.begin(), node.children.end(),
                     [](const Node& a, const Node& b) { return a.line < b.line; });
  } else if (const toml::array* list = in.as_array()) {
    for (const toml::node& value : *list) node.children.push_back(converted(value));
  } else if (node.type == Node::Type::kText) {
    node.text = in.value_exact<std::string>().value_or("");
  } else {
    node.text = written(in);
    node.number = in.value_exact<std::int64_t>().value_or(0);
    node.flag = in.value_exact<bool>().value_or(false);
  }
  return node;
}

}  // namespace

const Node* Node::find(std::string_view child_key) const {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Node& child) { return child.key == child_key; });
  return found == children.end() ? nullptr : &*found;
}

std::string_view name_of(Node::Type type) {
  switch (type) {
    case Node::Type::kText:
      return "text";
    case Node::Type::kInteger:
      return "a whole number";
    case Node::Type::kReal:
      return "a number with a fraction";
    case Node::Type::kFlag:
      return "true or false";
    case Node::Type::kTime:
      return "a date or time";
    case Node::Type::kList:
      return "a list";
    case Node::Type::kTable:
      return "a section";
  }
  return "something else";
}

Node parse_toml(std::string_view text, Problems& problems) {
  try {
    return converted(toml::parse(text));
  } catch (const toml::parse_error& error) {
    problems.push_back({error.source().begin.line, std::string(error.description())});
    return {};
  }
}

}  // namespace allot::config
