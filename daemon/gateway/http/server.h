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

// One place to listen at: a descriptor that listens already, and how what comes in is read.
struct Listener {
  UniqueFd fd;
  bool encrypted = false;  // TLS, with the files of Tls
  bool local = false;      // a unix socket: the peer's uid is known
  // Who answers what comes in here; nullptr: the application of the server.
  Application* application = nullptr;
};

struct Tls {
  std::string cert_file;  // PEM, the whole chain
  std::string key_file;
};

struct Limits {
  std::size_t head_bytes = std::size_t{16} << 10;
  std::size_t fields = 100;
  std::size_t connections = 6'000;
  // From one address, or from one IPv6 network of 64 bits; 0: no limit.
  std::size_t connections_of_peer = 500;
  // Whether an address speaks for many clients, so that connections_of_peer is no limit for it.
  std::function<bool(const std::string& address)> speaks_for_many{};
  std::chrono::milliseconds head_time{10'000};    // from the first byte of a head to its last
  std::chrono::milliseconds idle_time{75'000};    // between two requests of a connection
  std::chrono::milliseconds answer_time{60'000};  // to make an answer, and again to send it
  // While we wait for a body, so many bytes a second have to come in each window.
  std::chrono::milliseconds body_window{10'000};
  std::size_t body_rate = 1'024;
  std::size_t body_bytes = std::size_t{256} << 20;  // of all bodies that are held at once
};

// The HTTP server: it accepts, reads, checks and answers, all in the thread that calls run().
class Server {
 public:
  // Throws Error(kExitConfig) if the TLS files cannot be used.
  Server(Application& application, const Limits& limits, std::vector<Listener> listeners,
         const Tls& tls);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  // Serves until stop() was called and what was in flight is answered, or `grace` is over.
  void run();
  // From any thread, also a second time: takes no further connection; idle ones are closed.
  void stop(std::chrono::milliseconds grace);
  // The same, but plain connections are not closed between two requests: they are kept for the
  // server that follows, which goes on with them. Once run() has returned, kept() has them.
  void stop_and_keep(std::chrono::milliseconds grace);
  [[nodiscard]] std::vector<UniqueFd> kept();
  // Goes on with a plain connection that another server has kept, with the application of the place
  // where it came in. Before run().
  void adopt(UniqueFd connection, Application* application = nullptr);

  // Calls `act` in the server's thread, soon. From any thread.
  void post(std::function<void()> act);
  // Calls `ready` in the server's thread whenever `fd` can be read: a signalfd, the death pipe. The
  // descriptor stays the caller's.
  void watch(int fd, std::function<void()> ready);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace allot::gateway::http
