// SPDX-License-Identifier: Apache-2.0
#include "e2e/remote.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "e2e/gateway.h"
#include "support/bound_socket.h"

namespace allot::e2e {
namespace {

using support::Finished;

}  // namespace

std::string line_of(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string url_to(int port, const std::string& scheme) {
  return scheme + "://127.0.0.1:" + std::to_string(port);
}

support::Finished far(Words words, const Words& environment, const std::string& input) {
  words.insert(words.begin(), program("allot"));
  Words variables{"ALLOT_CONFIG=/nowhere/allot.toml",
                  "ALLOT_URL=", "ALLOT_TOKEN=", "ALLOT_TOKEN_FILE="};
  for (const std::string& each : environment) {
    std::erase_if(variables, [&](const std::string& variable) {
      return variable.starts_with(each.substr(0, each.find('=') + 1));
    });
    variables.push_back(each);
  }
  return support::run_program(std::move(words), {.environment = variables, .input = input});
}

support::Finished answered(const std::string& bytes, const Words& words, const std::string& input) {
  const support::BoundSocket server = support::listening_socket(8);
  std::thread thread([&] {
    const UniqueFd fd(::accept(server.fd.get(), nullptr, nullptr));
    std::string request;
    char part[4096];
    const auto whole = [&] {
      const std::size_t end = request.find("\r\n\r\n");
      const std::size_t length = request.find("Content-Length: ");
      if (end == std::string::npos) return false;
      const std::size_t body =
          length < end ? std::stoul(request.substr(length + std::strlen("Content-Length: "))) : 0;
      return request.size() >= end + 4 + body;
    };
    while (!whole()) {
      const ssize_t size = ::read(fd.get(), part, sizeof part);
      if (size <= 0) break;
      request.append(part, static_cast<std::size_t>(size));
    }
    // A client that has read enough closes the connection, which must not end this process.
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t size = ::send(fd.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (size <= 0) break;
      at += static_cast<std::size_t>(size);
    }
  });
  Words all{"--url", url_to(server.port)};
  all.insert(all.end(), words.begin(), words.end());
  Finished done = far(all, {}, input);
  thread.join();
  return done;
}

std::string answer(const std::string& type, const std::string& body, const std::string& status,
                   std::size_t more) {
  return "HTTP/1.1 " + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size() + more) + "\r\n\r\n" + body;
}

void Remote::start_with_port(const std::string& keys) {
  const Finished made = support::run_program({program("allot"), "gateway", "token", "test",
                                              "--read", "*", "--submit", "*", "--operate", "*"});
  token_ = line_of(made.out);
  ASSERT_FALSE(token_.empty()) << made.err;
  DaemonOptions options;
  options.start = false;
  options.more =
      gateway_section("listen = [\"127.0.0.1:" + std::to_string(port_.number()) + "\"]\n" + keys) +
      made.out.substr(made.out.find("[gateway"));
  daemon_ = std::make_unique<Daemon>(options);
  gateway_ = start_gateway(*daemon_);
  wait_listening(*daemon_, *gateway_);
}

}  // namespace allot::e2e
