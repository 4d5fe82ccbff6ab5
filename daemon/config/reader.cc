// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/names.h"
#include "config/rows.h"
#include "config/section_reader.h"

namespace allot::config {
namespace {

constexpr std::size_t kMaxScheduleName = 63;
constexpr std::size_t kMaxTokenName = 63;
constexpr std::size_t kMaxPoolName = 31;  // PreflightPool::name in ipc/preflight.h

// A name that needs no quotes in a file name, log line or metric.
bool is_name(std::string_view name, std::size_t max_length) {
  if (name.empty() || name.size() > max_length) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
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

  SectionReader open(const Node& node, const std::string& path) {
    return {node, path, folder_, settings_.lines, problems_};
  }

#define ALLOT_READ(key, type, initial, min, max, unit, sentence) \
  in.read(Kind::k##type, #key, out.key, min, max);

  void read_database(const Node& node) {
    SectionReader in = open(node, "database");
    Database& out = settings_.database;
#define ALLOT_DATABASE ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kDatabase);
  }

  void read_wake(const Node& node) {
    SectionReader in = open(node, "wake");
    Wake& out = settings_.wake;
#define ALLOT_WAKE ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kWake);
  }

  void read_daemon(const Node& node) {
    SectionReader in = open(node, "daemon");
    Daemon& out = settings_.daemon;
#define ALLOT_DAEMON ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kDaemon);
  }

  void read_notices(const Node& node) {
    SectionReader in = open(node, "notices");
    Notices& out = settings_.notices;
#define ALLOT_NOTICES ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kNotices);
  }

  void read_metrics(const Node& node) {
    SectionReader in = open(node, "metrics");
    Metrics& out = settings_.metrics;
#define ALLOT_METRICS ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kMetrics);
  }

  void read_logging(const Node& node) {
    SectionReader in = open(node, "logging");
    Logging& out = settings_.logging;
#define ALLOT_LOGGING ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kLogging);
  }

  void read_queues(const Node& group) {
    for (const Node& node : group.children) {
      if (!check_named("queues", node, kMaxQueueName)) continue;
      SectionReader in = open(node, "queues." + node.key);
      Queue& out = settings_.queues.emplace_back();
      out.name = node.key;
#define ALLOT_QUEUE ALLOT_READ
#include "config/settings.def"
      in.refuse_unknown(Section::kQueue);
    }
  }

  void read_types(const Node& group) {
    for (const Node& node : group.children) {
      if (!check_type(node)) continue;
      SectionReader in = open(node, "types." + node.key);
      Type& out = settings_.types.emplace_back();
      out.name = node.key;
#define ALLOT_TYPE ALLOT_READ
#include "config/settings.def"
      in.refuse_unknown(Section::kType);
    }
  }

  void read_pools(const Node& group) {
    for (const Node& node : group.children) {
      if (!check_named("pools", node, kMaxPoolName)) continue;
      SectionReader in = open(node, "pools." + node.key);
      Pool& out = settings_.pools.emplace_back();
      out.name = node.key;
#define ALLOT_POOL ALLOT_READ
#include "config/settings.def"
      in.refuse_unknown(Section::kPool);
    }
  }

  void read_schedules(const Node& group) {
    for (const Node& node : group.children) {
      if (!check_named("schedules", node, kMaxScheduleName)) continue;
      SectionReader in = open(node, "schedules." + node.key);
      Schedule& out = settings_.schedules.emplace_back();
      out.name = node.key;
#define ALLOT_SCHEDULE ALLOT_READ
#include "config/settings.def"
      in.refuse_unknown(Section::kSchedule);
    }
  }

  void read_plugins(const Node& group) {
    SectionReader in = open(group, "plugins");
    Plugins& out = settings_.plugins;
#define ALLOT_PLUGINS ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kPlugins, true);
    for (const Node& node : group.children) {
      if (node.type == Node::Type::kTable) read_plugin(node);
    }
  }

  void read_gateway(const Node& group) {
    SectionReader in = open(group, "gateway");
    Gateway& out = settings_.gateway.emplace();
#define ALLOT_GATEWAY ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kGateway, true);
    for (const Node& node : group.children) {
      if (node.type != Node::Type::kTable) continue;
      if (node.key == "database") {
        read_gateway_database(node, out.database);
      } else if (node.key == "tokens") {
        read_tokens(node, out.tokens);
      } else if (node.key == "users") {
        read_users(node, out.users);
      } else if (node.key == "fireworq") {
        read_fireworq(node, out.fireworq.emplace());
      } else {
        add(node, "unknown section [gateway." + node.key +
                      "]; known sections: gateway.database, gateway.fireworq, "
                      "gateway.tokens.NAME, gateway.users.NAME");
      }
    }
  }

  void read_gateway_database(const Node& node, Database& out) {
    SectionReader in = open(node, "gateway.database");
#define ALLOT_DATABASE ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kDatabase);
  }

  void read_fireworq(const Node& node, GatewayFireworq& out) {
    SectionReader in = open(node, "gateway.fireworq");
#define ALLOT_GATEWAY_FIREWORQ ALLOT_READ
#include "config/settings.def"
    in.refuse_unknown(Section::kGatewayFireworq);
  }

  void read_tokens(const Node& group, std::vector<GatewayToken>& tokens) {
    for (const Node& node : group.children) {
      if (!check_named("gateway.tokens", node, kMaxTokenName)) continue;
      SectionReader in = open(node, "gateway.tokens." + node.key);
      GatewayToken& out = tokens.emplace_back();
      out.name = node.key;
#define ALLOT_GATEWAY_TOKEN ALLOT_READ
#include "config/settings.def"
      in.refuse_unknown(Section::kGatewayToken);
    }
  }

  // A user name has the form that the proxy sends, such as a mail address.
  void read_users(const Node& group, std::vector<GatewayUser>& users) {
    for (const Node& node : group.children) {
      if (!check_section("gateway.users", node)) continue;
      SectionReader in = open(node, "gateway.users." + node.key);
      GatewayUser& out = users.emplace_back();
      out.name = node.key;
#define ALLOT_GATEWAY_USER ALLOT_READ
#include "config/settings.def"
      in.refuse_unknown(Section::kGatewayUser);
    }
  }
#undef ALLOT_READ

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

  // True if `node` is a section with a valid name, such as [queues.NAME].
  bool check_named(const std::string& group, const Node& node, std::size_t max_length) {
    if (!check_section(group, node)) return false;
    if (is_name(node.key, max_length)) return true;
    add(node, "[" + group + "." + node.key + "]: a name has 1 to " + std::to_string(max_length) +
                  " letters, digits, '_', '-' and '.'");
    return false;
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
      return row.kind == Kind::kWeights && row.key == key && header_of(row.section) == header;
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
      if (row.key == key) return "; it belongs in " + std::string(header_of(row.section));
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
    {"database", &Reader::read_database},
    {"wake", &Reader::read_wake},
    {"daemon", &Reader::read_daemon},
    {"queues", &Reader::read_queues},
    {"types", &Reader::read_types},
    {"pools", &Reader::read_pools},
    {"schedules", &Reader::read_schedules},
    {"plugins", &Reader::read_plugins},
    {"notices", &Reader::read_notices},
    {"metrics", &Reader::read_metrics},
    {"gateway", &Reader::read_gateway},
    {"logging", &Reader::read_logging},
}};

}  // namespace

void read_settings(std::string_view text, const std::string& folder, Settings& settings,
                   Problems& problems) {
  Reader(folder, settings, problems).read(parse_toml(text, problems));
}

}  // namespace allot::config
