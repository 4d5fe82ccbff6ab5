// SPDX-License-Identifier: Apache-2.0
#include "db/from_settings.h"

namespace allot::db {

ConnectOptions from_settings(const config::Database& settings) {
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
  return options;
}

}  // namespace allot::db
