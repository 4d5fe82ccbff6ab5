// SPDX-License-Identifier: Apache-2.0
#include "db/from_settings.h"

#include "base/error.h"
#include "trust/trust.h"

namespace allot::db {
namespace {

// Only for several servers: a single one has nothing to compare with. Uses the mode that a daemon
// requires, regardless of the umask.
void make_folder(const std::string& folder) {
  try {
    trust::make_folder(folder, trust::Role::kOwnFolder, "[daemon] runtime_dir");
  } catch (const Error&) {  // optional for a command
  }
}

// A folder that belongs to another account is not used; a command works without it.
std::string runtime_dir_of(const config::Settings& settings) {
  try {
    return config::runtime_dir(settings);
  } catch (const Error&) {
    return {};
  }
}

// "host:port host:port name", or "/socket name".
std::string list_of(const ConnectOptions& options) {
  std::string list = options.socket;
  if (list.empty()) {
    for (const Server& server : options.servers) list += place_of(options, &server) + " ";
  }
  return list + options.database;
}

}  // namespace

ConnectOptions from_settings(const config::Settings& settings) {
  return from_settings(settings.database, runtime_dir_of(settings));
}

ConnectOptions from_settings(const config::Database& settings, const std::string& runtime_dir) {
  ConnectOptions options;
  for (const config::Server& server : settings.servers) {
    options.servers.push_back({server.host, server.port});
  }
  options.socket = settings.socket;
  options.user = settings.user;
  options.password = settings.password;
  options.database = settings.name;
  options.connect_timeout = settings.connect_timeout;
  options.call_timeout = settings.call_timeout;
  if (settings.tls == "required") options.tls.mode = Tls::kRequired;
  if (settings.tls == "verify") options.tls.mode = Tls::kVerify;
  options.tls.ca = settings.tls_ca;
  options.tls.cert = settings.tls_cert;
  options.tls.key = settings.tls_key;
  if (runtime_dir.empty()) return options;
  if (options.socket.empty() && options.servers.size() > 1) make_folder(runtime_dir);
  options.memory = std::make_shared<TermMemory>(runtime_dir, list_of(options));
  return options;
}

ConnectOptions log_reader_from(const config::Settings& settings) {
  ConnectOptions options = from_settings(settings);
  options.user = settings.wake.user;
  options.password = settings.wake.password;
  options.database.clear();
  return options;
}

}  // namespace allot::db
