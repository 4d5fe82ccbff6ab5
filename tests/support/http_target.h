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

// A server for HTTP clients under test: it does what its script says, right or wrong, over real
// sockets of the loopback, in a thread for each connection.
class HttpTarget {
 public:
  // For TLS. With `client_ca` each client has to present a certificate that it signed.
  struct Tls {
    std::string cert;
    std::string key;
    std::string client_ca{};
  };
  struct Request {
    std::string head;  // with its last line break
    std::string body;

    // The value of the field; empty: there is none.
    [[nodiscard]] std::string field(const std::string& name) const;
  };

  // The server's side of one connection. The script uses it, in its own thread.
  class Peer {
   public:
    // The next request, by its Content-Length. Nothing: the connection ended first.
    std::optional<Request> request();
    // Only its head.
    std::optional<Request> head();
    // False: the other side is gone.
    bool send(const std::string& bytes);
    // A whole answer.
    bool answer(int status, const std::string& body, const std::string& fields = {});
    // Until the other side ends the connection.
    void wait_for_end();
    // Reads nothing more, until the other side or the target ends the connection.
    void hold() const;
    // Ends it with a reset.
    void reset();
    // Of this connection, from 1.
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
  // One that gives this answer to each request.
  static Script always(int status, const std::string& body, const std::string& fields = {});
  HttpTarget(const HttpTarget&) = delete;
  HttpTarget& operator=(const HttpTarget&) = delete;
  ~HttpTarget();

  [[nodiscard]] int port() const { return port_; }
  // "http://127.0.0.1:PORT", or https
  [[nodiscard]] std::string origin() const;
  // What has come so far.
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
