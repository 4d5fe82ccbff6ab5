// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/nearest.h"
#include "config/rows.h"
#include "config/section_reader.h"

namespace allot::config {
namespace {

constexpr std::size_t kMaxScheduleName = 63;
constexpr std::size_t kMaxTokenName = 63;
constexpr std::size_t kMaxPoolName = 31;  // PreflightPool::name in ipc/preflight.h

// A name that needs no quotes in a file name, log line or metric.
bool is_name(std::string_view name, std::size_t max_length) {
  return name.size() <= max_length && is_word(name, "_-.");
}

class Reader {
 public:
  Reader(const std::string& folder, Settings& settings, Problems& problems)
      : folder_(folder), settings_(settings), problems_(problems) {}

  void read(const Node& root) {
    for (const Node& node : root.children) {
      const auto known =
          std::find_if(kSections.begin(), kSections.end(),
                       [&](const SectionRule& rule) { return rule.name == node.key; });
      if (known == kSections.end()) {
        refuse(node);
      } else if (node.type != Node::Type::kTable) {
        add(node, "'" + node.key + "' must be a section, not " + std::string(name_of(node.type)));
      } else {
        (this->*(known->read))(node);
      }
    }
  }

 private:
  struct SectionRule {
    std::string_view name;
    void (Reader::*read)(const Node&);
  };
  static const std::array<SectionRule, 12> kSections;

  // Reads the keys of one section.
  template <typename Keys>
  void read_keys(const Node& node, const std::string& path, Keys& out,
                 bool allow_sections = false) {
    SectionReader in(node, path, folder_, settings_.lines, problems_);
    Keys::each_key(out, [&in](const Key& key, auto& value, auto min, auto max) {
      in.read(key, value, min, max);
    });
    in.refuse_unknown(Keys::kHeader, allow_sections);
  }

  template <auto Member>
  void read_one(const Node& node) {
    read_keys(node, node.key, settings_.*Member);
  }

  // The sections [GROUP.NAME] that `is_valid`.
  template <typename Keys, typename IsValid>
  void read_each(const Node& group, const std::string& path, std::vector<Keys>& list,
                 const IsValid& is_valid) {
    for (const Node& node : group.children) {
      if (!is_valid(path, node)) continue;
      Keys& out = list.emplace_back();
      out.name = node.key;
      read_keys(node, path + "." + node.key, out);
    }
  }

  // True for a section with a valid name, such as [queues.NAME].
  template <std::size_t MaxLength>
  auto named() {
    return [this](const std::string& group, const Node& node) {
      if (!check_section(group, node)) return false;
      if (is_name(node.key, MaxLength)) return true;
      add(node, "[" + group + "." + node.key + "]: a name has 1 to " + std::to_string(MaxLength) +
                    " letters, digits, '_', '-' and '.'");
      return false;
    };
  }

  template <auto Member, std::size_t MaxLength>
  void read_named(const Node& group) {
    read_each(group, group.key, settings_.*Member, named<MaxLength>());
  }

  // A type may be a prefix.
  void read_types(const Node& group) {
    read_each(group, group.key, settings_.types,
              [this](const std::string&, const Node& node) { return check_type(node); });
  }

  void read_plugins(const Node& group) {
    read_keys(group, "plugins", settings_.plugins, true);
    for (const Node& node : group.children) {
      if (node.type == Node::Type::kTable) read_plugin(node);
    }
  }

  void read_gateway(const Node& group) {
    Gateway& out = settings_.gateway.emplace();
    read_keys(group, "gateway", out, true);
    for (const Node& node : group.children) {
      if (node.type != Node::Type::kTable) continue;
      const std::string path = "gateway." + node.key;
      if (node.key == "database") {
        read_keys(node, path, out.database);
      } else if (node.key == "tokens") {
        read_each(node, path, out.tokens, named<kMaxTokenName>());
      } else if (node.key == "users") {
        // A user name has the form that the proxy sends, such as a mail address.
        read_each(node, path, out.users, [this](const std::string& name, const Node& user) {
          return check_section(name, user);
        });
      } else if (node.key == "fireworq") {
        read_keys(node, path, out.fireworq.emplace());
      } else {
        add(node, "unknown section [" + path +
                      "]; known sections: gateway.database, gateway.fireworq, "
                      "gateway.tokens.NAME, gateway.users.NAME");
      }
    }
  }

  // One part of a joined key.
  static std::string joinable(const std::string& key) {
    if (!key.empty() && key.find_first_of(".\"\\") == std::string::npos) return key;
    std::string text = "\"";
    for (const char c : key) text.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
    return text + "\"";
  }

  void read_plugin(const Node& section) {
    settings_.lines["plugins." + section.key] = section.line;
    read_plugin_keys(section, "plugins." + section.key, "",
                     settings_.plugins.sections[section.key]);
  }

  void read_plugin_keys(const Node& table, const std::string& path, const std::string& prefix,
                        PluginSection& out) {
    for (const Node& node : table.children) {
      const std::string key = prefix + joinable(node.key);
      if (node.type == Node::Type::kTable) {
        settings_.lines[path + "." + key] = node.line;
        read_plugin_keys(node, path, key + ".", out);
        continue;
      }
      settings_.lines[path + "." + key] = node.line;
      if (node.type != Node::Type::kList) {
        add_plugin_value(node, path, key, out);
        continue;
      }
      for (const Node& element : node.children) add_plugin_value(element, path, key, out);
    }
  }

  void add_plugin_value(const Node& node, const std::string& path, const std::string& key,
                        PluginSection& out) {
    if (node.type != Node::Type::kTable && node.type != Node::Type::kList &&
        node.type != Node::Type::kTime) {
      out.emplace(key, node.text);
      return;
    }
    add(node, "[" + path + "] " + key +
                  " must be text, a number, true or false, or a list of these, not " +
                  std::string(name_of(node.type)));
  }

  // [types.NAME], or [types."PREFIX.*"].
  bool check_type(const Node& node) {
    if (!check_section("types", node)) return false;
    const std::string_view key = node.key;
    const bool prefix = key.ends_with(".*");
    const std::size_t star = prefix ? 2 : 0;
    if (is_name(key.substr(0, key.size() - star), kMaxTypeName - star)) return true;
    add(node, "[types." + node.key + "]: a type has 1 to " + std::to_string(kMaxTypeName) +
                  " letters, digits, '_', '-' and '.'; a prefix such as \"shop.*\" stands for all "
                  "that begin with \"shop.\"");
    return false;
  }

  bool check_section(const std::string& group, const Node& node) {
    if (node.type != Node::Type::kTable) {
      add(node, "'" + node.key + "' is in [" + group + "]; write [" + group + ".NAME] above it");
      return false;
    }
    // Type names have dots, and TOML reads an unquoted dot as a subsection.
    const auto inner = [&](const Node& child) {
      return child.type == Node::Type::kTable && !has_weights(group, child.key);
    };
    const auto child = std::find_if(node.children.begin(), node.children.end(), inner);
    if (child == node.children.end()) return true;
    add(*child, "[" + group + "." + node.key + "." + child->key +
                    "]: a name with a dot needs quotes, as in [" + group + ".\"" + node.key + "." +
                    child->key + "\"]");
    return false;
  }

  // True if sections of this group have such a key, whose value is a table.
  static bool has_weights(std::string_view group, std::string_view key) {
    const std::string header = "[" + std::string(group) + ".NAME]";
    return std::any_of(rows().begin(), rows().end(), [&](const Row& row) {
      return row.kind == Kind::kWeights && row.key == key && row.header == header;
    });
  }

  void refuse(const Node& node) {
    std::vector<std::string_view> known;
    std::string list;
    for (const SectionRule& rule : kSections) {
      known.push_back(rule.name);
      list.append(list.empty() ? "" : ", ").append(rule.name);
    }
    if (node.type != Node::Type::kTable) {
      return add(node, "key '" + node.key + "' is before the first section" + home_of(node.key));
    }
    const std::string_view near = nearest(node.key, known);
    add(node, "unknown section [" + node.key + "]; " +
                  (near.empty() ? "known sections: " + list
                                : "did you mean [" + std::string(near) + "]?"));
  }

  static std::string home_of(std::string_view key) {
    for (const Row& row : rows()) {
      if (row.key == key) return "; it belongs in " + std::string(row.header);
    }
    return {};
  }

  void add(const Node& node, std::string text) {
    problems_.push_back({node.line, std::move(text)});
  }

  const std::string& folder_;
  Settings& settings_;
  Problems& problems_;
};

const std::array<Reader::SectionRule, 12> Reader::kSections = {{
    {"database", &Reader::read_one<&Settings::database>},
    {"wake", &Reader::read_one<&Settings::wake>},
    {"daemon", &Reader::read_one<&Settings::daemon>},
    {"queues", &Reader::read_named<&Settings::queues, kMaxQueueName>},
    {"types", &Reader::read_types},
    {"pools", &Reader::read_named<&Settings::pools, kMaxPoolName>},
    {"schedules", &Reader::read_named<&Settings::schedules, kMaxScheduleName>},
    {"plugins", &Reader::read_plugins},
    {"notices", &Reader::read_one<&Settings::notices>},
    {"metrics", &Reader::read_one<&Settings::metrics>},
    {"gateway", &Reader::read_gateway},
    {"logging", &Reader::read_one<&Settings::logging>},
}};

}  // namespace

void read_settings(std::string_view text, const std::string& folder, Settings& settings,
                   Problems& problems) {
  Reader(folder, settings, problems).read(parse_toml(text, problems));
}

}  // namespace allot::config
