// SPDX-License-Identifier: Apache-2.0
#include "config/effective.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "config/check.h"
#include "config/rows.h"

namespace allot::config {
namespace {

constexpr const char* kMasked = "\"***\"";

// Keys of [database] that are overridden by others.
std::set<std::string> without_effect(const Database& database) {
  std::set<std::string> keys;
  if (!database.embedded.empty()) {
    keys = {"password", "password_file", "password_credential"};
  }
  if (!database.socket.empty()) keys.merge(std::set<std::string>{"host", "port", "hosts"});
  if (database.tls == "off") keys.merge(std::set<std::string>{"tls_ca", "tls_cert", "tls_key"});
  if (!database.hosts.empty()) keys.insert("host");
  // The password was read from there.
  if (!database.password_file.empty() || !database.password_credential.empty()) {
    keys.insert("password");
  }
  return keys;
}

class Lister {
 public:
  explicit Lister(const Settings& settings) : settings_(settings) {}

  std::vector<Effective> list() {
    list("database", settings_.database);
    list("wake", settings_.wake);
    list("daemon", daemon());
    list_each("queues.", settings_.queues);
    list_each("types.", settings_.types);
    list_each("pools.", settings_.pools);
    list_each("schedules.", settings_.schedules);
    list("plugins", settings_.plugins);
    for (const auto& [name, keys] : settings_.plugins.sections) add_plugin("plugins." + name, keys);
    list("notices", settings_.notices);
    list("metrics", settings_.metrics);
    if (settings_.gateway) list_gateway(*settings_.gateway);
    list("logging", settings_.logging);
    return std::move(list_);
  }

 private:
  template <typename Keys>
  void list(const std::string& section, const Keys& in) {
    Keys::each_key(in, [&](const Key& key, const auto& value, auto... /*limits*/) {
      add(section, key, written(key.kind, value));
    });
  }
  template <typename Keys>
  void list_each(const std::string& group, const std::vector<Keys>& sections) {
    for (const Keys& in : sections) list(group + in.name, in);
  }

  void list_gateway(Gateway gateway) {
    if (gateway.socket.empty()) computed_["gateway.socket"] = "runtime_dir";
    gateway.socket = gateway_socket(settings_);
    list("gateway", gateway);
    list("gateway.database", gateway.database);
    if (gateway.fireworq) list("gateway.fireworq", *gateway.fireworq);
    list_each("gateway.tokens.", gateway.tokens);
    list_each("gateway.users.", gateway.users);
  }

  // The section with its computed values.
  Daemon daemon() {
    Daemon daemon = settings_.daemon;
    Named folder = named_runtime_dir(settings_);
    daemon.runtime_dir = std::move(folder.value);
    if (!folder.origin.empty()) computed_["daemon.runtime_dir"] = std::move(folder.origin);
    if (daemon.frozen_after.count() == 0) computed_["daemon.frozen_after"] = "lease_ttl";
    daemon.frozen_after = frozen_limit(settings_.daemon);
    return daemon;
  }

  void add(const std::string& section, const Key& key, std::string value) {
    const std::string name = key.name;
    if (section == "database" && without_effect(settings_.database).contains(name)) return;
    if (section == "gateway.database" &&
        (name == "embedded" || without_effect(settings_.gateway->database).contains(name))) {
      return;
    }
    if (key.kind == Kind::kSecret && value != "\"\"") value = kMasked;
    list_.push_back(place({section, name, std::move(value)}));
  }

  void add_plugin(const std::string& section, const PluginSection& keys) {
    for (auto at = keys.begin(); at != keys.end();) {
      std::vector<std::string> values;
      const std::string& key = at->first;
      for (; at != keys.end() && at->first == key; ++at) values.push_back(at->second);
      Effective entry{section, key,
                      values.size() == 1 ? written(Kind::kText, values.front())
                                         : written(Kind::kNames, values)};
      if (names_a_secret(key)) entry.value = kMasked;
      list_.push_back(place(std::move(entry)));
    }
  }

  Effective place(Effective entry) const {
    const std::string path = entry.section + "." + entry.key;
    for (const auto* origins : {&settings_.origins, &computed_}) {
      const auto named = origins->find(path);
      if (named == origins->end()) continue;
      entry.origin = named->second;
      return entry;
    }
    const auto line = settings_.lines.find(path);
    if (line != settings_.lines.end()) entry.line = line->second;
    return entry;
  }

  const Settings& settings_;
  std::map<std::string, std::string> computed_;
  std::vector<Effective> list_;
};

}  // namespace

std::vector<Effective> effective(const Settings& settings) {
  return Lister(settings).list();
}

}  // namespace allot::config
