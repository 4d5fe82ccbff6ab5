// SPDX-License-Identifier: Apache-2.0
#include "e2e/gateway.h"

#include <gtest/gtest.h>

#include <vector>

namespace allot::e2e {

std::string gateway_section(const std::string& keys, const std::string& user) {
  return "[gateway]\nsocket = \"gateway.sock\"\n" + keys + "[gateway.database]\nuser = \"" + user +
         "\"\n";
}

std::string gateway_socket(const Daemon& daemon) {
  return daemon.folder() + "/gateway.sock";
}

std::unique_ptr<support::Process> start_gateway(const Daemon& daemon,
                                                const support::ProcessOptions& options) {
  return std::make_unique<support::Process>(
      std::vector<std::string>{program("allot-gateway"), "--config", daemon.config_file()},
      options);
}

void wait_listening(const Daemon& daemon, const support::Process& gateway) {
  ASSERT_TRUE(support::eventually([&] { return daemon.logged("gateway.listening"); }))
      << gateway.err() << daemon.log();
}

pid_t pid_in(const Daemon& daemon, const std::string& event) {
  const std::string log = daemon.log();
  const std::size_t at = log.find("pid=", log.rfind(event + " "));
  return at == std::string::npos ? -1 : std::stoi(log.substr(at + 4));
}

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

std::string submission(const std::string& body, const std::string& fields,
                       const std::string& type) {
  return "POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + type + "\r\n" +
         fields + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace allot::e2e
