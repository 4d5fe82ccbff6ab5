// SPDX-License-Identifier: Apache-2.0
#include "config/effective.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "config/rows.h"
#include "config/secret_file.h"

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
#define ALLOT_LIST(key, type, initial, min, max, unit, sentence) \
  add(section, #key, Kind::k##type, written(Kind::k##type, in.key));
    {
      const std::string section = "database";
      const Database& in = settings_.database;
#define ALLOT_DATABASE ALLOT_LIST
#include "config/settings.def"
    }
    {
      const std::string section = "wake";
      const Wake& in = settings_.wake;
#define ALLOT_WAKE ALLOT_LIST
#include "config/settings.def"
    }
    {
      const std::string section = "daemon";
      const Daemon in = daemon();
#define ALLOT_DAEMON ALLOT_LIST
#include "config/settings.def"
    }
    list_queues();
    for (const Pool& in : settings_.pools) {
      const std::string section = "pools." + in.name;
#define ALLOT_POOL ALLOT_LIST
#include "config/settings.def"
    }
    for (const Schedule& in : settings_.schedules) {
      const std::string section = "schedules." + in.name;
#define ALLOT_SCHEDULE ALLOT_LIST
#include "config/settings.def"
    }
    {
      const std::string section = "plugins";
      const Plugins& in = settings_.plugins;
#define ALLOT_PLUGINS ALLOT_LIST
#include "config/settings.def"
    }
    for (const auto& [name, keys] : settings_.plugins.sections) add_plugin("plugins." + name, keys);
    {
      const std::string section = "notices";
      const Notices& in = settings_.notices;
#define ALLOT_NOTICES ALLOT_LIST
#include "config/settings.def"
    }
    {
      const std::string section = "metrics";
      const Metrics& in = settings_.metrics;
#define ALLOT_METRICS ALLOT_LIST
#include "config/settings.def"
    }
    if (settings_.gateway) list_gateway(*settings_.gateway);
    {
      const std::string section = "logging";
      const Logging& in = settings_.logging;
#define ALLOT_LOGGING ALLOT_LIST
#include "config/settings.def"
    }
    return std::move(list_);
  }

 private:
  void list_queues() {
    for (const Queue& in : settings_.queues) {
      const std::string section = "queues." + in.name;
#define ALLOT_QUEUE ALLOT_LIST
#include "config/settings.def"
    }
    for (const Type& in : settings_.types) {
      const std::string section = "types." + in.name;
#define ALLOT_TYPE ALLOT_LIST
#include "config/settings.def"
    }
  }
  void list_gateway(const Gateway& gateway) {
    {
      const std::string section = "gateway";
      Gateway in = gateway;
      in.socket = gateway_socket(settings_);
      if (gateway.socket.empty()) computed_["gateway.socket"] = "runtime_dir";
#define ALLOT_GATEWAY ALLOT_LIST
#include "config/settings.def"
    }
    {
      const std::string section = "gateway.database";
      const Database& in = gateway.database;
#define ALLOT_DATABASE ALLOT_LIST
#include "config/settings.def"
    }
    if (gateway.fireworq) {
      const std::string section = "gateway.fireworq";
      const GatewayFireworq& in = *gateway.fireworq;
#define ALLOT_GATEWAY_FIREWORQ ALLOT_LIST
#include "config/settings.def"
    }
    for (const GatewayToken& in : gateway.tokens) {
      const std::string section = "gateway.tokens." + in.name;
#define ALLOT_GATEWAY_TOKEN ALLOT_LIST
#include "config/settings.def"
    }
    for (const GatewayUser& in : gateway.users) {
      const std::string section = "gateway.users." + in.name;
#define ALLOT_GATEWAY_USER ALLOT_LIST
#include "config/settings.def"
    }
  }
#undef ALLOT_LIST

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

  void add(const std::string& section, const char* key, Kind kind, std::string value) {
    if (section == "database" && without_effect(settings_.database).count(key) != 0) return;
    if (section == "gateway.database" &&
        (key == std::string_view("embedded") ||
         without_effect(settings_.gateway->database).count(key) != 0)) {
      return;
    }
    if (kind == Kind::kSecret && value != "\"\"") value = kMasked;
    list_.push_back(place({section, key, std::move(value)}));
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
