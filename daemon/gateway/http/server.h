// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "gateway/http/application.h"

namespace allot::gateway::http {

// A listening socket, and how its connections are read.
struct Listener {
  UniqueFd fd;
  bool encrypted = false;  // TLS, with the files of Tls
  bool local = false;      // unix socket: the peer's uid is known
  // Application of this listener; nullptr: the server's default.
  Application* application = nullptr;
};

struct Tls {
  std::string cert_file;  // PEM, the whole chain
  std::string key_file;
};

struct Limits {
  std::size_t connections = 6'000;
  // Limit per address, or per IPv6 network of 64 bits; 0: no limit.
  std::size_t connections_of_peer = 500;
  // Whether connections_of_peer does not apply, because the address represents many clients.
  std::function<bool(const std::string& address)> speaks_for_many{};
  std::chrono::milliseconds head_time{10'000};    // from the first byte of a head to the last
  std::chrono::milliseconds idle_time{75'000};    // between two requests of a connection
  std::chrono::milliseconds answer_time{60'000};  // to produce an answer, and again to send it
  // Minimum rate in bytes per second while waiting for a body, checked per window.
  std::chrono::milliseconds body_window{10'000};
  std::size_t body_rate = 1'024;
  std::size_t body_bytes = std::size_t{256} << 20;  // limit of all bodies held at once
};

// The HTTP server: accepts, reads, checks and answers, all in the thread that calls run().
class Server {
 public:
  // Throws Error(kExitConfig) if the TLS files cannot be used.
  Server(Application& application, const Limits& limits, std::vector<Listener> listeners,
         const Tls& tls);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // Serves until stop() was called and the requests in flight are answered, or `grace` is over.
  void run();
  // Accepts no further connections and closes idle ones. `keeps`: leaves plain connections between
  // two requests open for the next server; after run() has returned, kept() has them. Any thread;
  // may be called twice.
  void stop(std::chrono::milliseconds grace, bool keeps = false);
  [[nodiscard]] std::vector<UniqueFd> kept();
  // Continues a plain connection kept by another server, with the application of its listener. Call
  // before run().
  void adopt(UniqueFd connection, Application* application = nullptr);

  // Calls `act` in the server thread, soon. From any thread.
  void post(std::function<void()> act);
  // Calls `ready` in the server thread whenever `fd` is readable: a signalfd, the death pipe. The
  // caller keeps ownership of the descriptor.
  void watch(int fd, std::function<void()> ready);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::gateway::http
