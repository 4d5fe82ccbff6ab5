// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/types.h>

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace allot::support {

// A server for HTTP clients under test: it follows its script, valid or not, over real loopback
// sockets, with a thread for each connection.
class HttpTarget {
 public:
  // Settings for TLS. With `client_ca` each client must present a certificate signed by it.
  struct Tls {
    std::string cert;
    std::string key;
    std::string client_ca{};
  };
  struct Request {
    std::string head;  // with the final line break
    std::string body;

    // Value of the field; empty: missing.
    [[nodiscard]] std::string field(const std::string& name) const;
  };

  // Server side of one connection, used by the script in its own thread.
  class Peer {
   public:
    // The next request, by its Content-Length. nullopt: the connection ended first.
    std::optional<Request> request();
    // Only the head of the next request.
    std::optional<Request> head();
    // False: the connection ended.
    bool send(const std::string& bytes);
    // Sends a whole response.
    bool answer(int status, const std::string& body, const std::string& fields = {});
    // Waits until the other side ends the connection.
    void wait_for_end();
    // Reads nothing more until the other side or the target ends the connection.
    void hold() const;
    // Ends the connection with a reset.
    void reset();
    // Number of this connection, from 1.
    [[nodiscard]] std::size_t number() const { return number_; }

   private:
    friend class HttpTarget;
    bool read_more();
    bool shake_hands();

    HttpTarget* target_ = nullptr;
    UniqueFd fd_{};
    std::shared_ptr<SSL> ssl_{};
    std::size_t number_ = 0;
    std::string in_{};
  };
  using Script = std::function<void(Peer&)>;

  explicit HttpTarget(Script script) : HttpTarget(std::move(script), std::nullopt) {}
  HttpTarget(Script script, const std::optional<Tls>& tls);
  // Script that gives this response to each request.
  static Script always(int status, const std::string& body, const std::string& fields = {});
  HttpTarget(const HttpTarget&) = delete;
  HttpTarget& operator=(const HttpTarget&) = delete;
  ~HttpTarget();

  [[nodiscard]] int port() const { return port_; }
  // "http://127.0.0.1:PORT", or https
  [[nodiscard]] std::string origin() const;
  // All requests so far.
  [[nodiscard]] std::vector<Request> requests() const;
  [[nodiscard]] std::size_t connections() const;

 private:
  void accept_all();

  Script script_;
  std::shared_ptr<SSL_CTX> tls_;
  UniqueFd listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  bool stops_ = false;
  std::list<Peer> peers_;
  std::vector<Request> requests_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace allot::support
