// SPDX-License-Identifier: Apache-2.0
#include "client/settings.h"

#include "config/networks.h"
#include "config/settings.h"
#include "db/from_settings.h"

namespace allot::client {

Settings from_client(const ClientSettings& settings) {
  config::Database database;
  for (const std::string& host : settings.hosts) {
    const auto server = config::parse_server(host, settings.port);
    if (!server) {
      throw Error("hosts: '" + host + "' is not a host, host:port or [address]:port", kExitConfig);
    }
    database.servers.push_back(*server);
  }
  if (database.servers.empty() && settings.socket.empty()) {
    throw Error("hosts: empty, and no socket is set", kExitConfig);
  }
  if (settings.tls != "off" && settings.tls != "required" && settings.tls != "verify") {
    throw Error("tls: '" + settings.tls + "': must be off, required or verify", kExitConfig);
  }
  if (settings.name.empty()) throw Error("name: the name of the database is missing", kExitConfig);
  database.socket = settings.socket;
  database.user = settings.user;
  database.password = settings.password;
  database.name = settings.name;
  database.tls = settings.tls;
  database.tls_ca = settings.tls_ca;
  database.tls_cert = settings.tls_cert;
  database.tls_key = settings.tls_key;
  database.connect_timeout = settings.connect_timeout;
  database.call_timeout = settings.call_timeout;
  return {db::from_settings(database, settings.runtime_dir), settings.runtime_dir, {}};
}

Settings from_file(const std::string& path) {
  config::LoadOptions options;
  options.file = path;
  const config::Settings loaded = config::load(options);
  Settings settings{db::from_settings(loaded), {}, {}};
  for (const config::Queue& queue : loaded.queues) settings.queues[queue.name] = queue;
  try {
    settings.runtime_dir = config::runtime_dir(loaded);
  } catch (const Error&) {
    // The runtime folder belongs to another user: continue, but wake no workers.
  }
  return settings;
}

}  // namespace allot::client
