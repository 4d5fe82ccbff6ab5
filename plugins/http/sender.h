// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "connection.h"
#include "connector.h"
#include "pool.h"
#include "targets.h"
#include "watchdog.h"

namespace http_plugin {

// Sends requests, reusing idle connections if permitted. Any thread may call it.
class Sender {
 public:
  // Throws std::invalid_argument for unusable TLS files.
  explicit Sender(const Targets& targets, Lookup lookup = look_up);

  // Throws Trouble.
  Answer send(const Target& target, const std::string& head, std::string_view body, Watch& watch);

 private:
  std::unique_ptr<Connection> connect(const Target& target, Watch& watch);
  [[nodiscard]] static std::string name_of(const Target& target);

  Connector connector_;
  std::map<std::string, std::unique_ptr<Tls>> tls_;  // by name_of()
  Pool pool_;
};

}  // namespace http_plugin
