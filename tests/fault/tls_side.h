// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/ssl.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/certificates.h"

namespace allot::fault {

// A certificate for 127.0.0.1 and its OpenSSL objects.
class TlsIdentity {
 public:
  TlsIdentity();
  [[nodiscard]] std::string ca() const { return authority_.ca(); }
  [[nodiscard]] SSL* open() const { return ::SSL_new(context_.get()); }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  };
  support::Authority authority_;
  std::unique_ptr<SSL_CTX, Free> context_;
};

// Speaks TLS with one client in place of its server, which is reached without TLS. So the proxy can
// read the data that it cuts, and the server needs no certificate. Used by one thread.
class TlsSide {
 public:
  explicit TlsSide(const TlsIdentity& identity);

  // Takes bytes from the client. Returns the bytes for the server; nullopt: not TLS.
  std::optional<std::string> from_client(std::string_view wire);
  // Takes bytes from the server.
  void from_server(std::string_view plain);
  // Returns the pending bytes for the client.
  std::string take_wire();
  // The client's pid, once its login has been read.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  enum class State { kGreeting, kRequest, kLogin, kOpen };
  struct Free {
    void operator()(SSL* ssl) const { ::SSL_free(ssl); }
  };
  // Removes the complete packets from `unread`, and passes each with its head to `use`.
  static void each_packet(std::string& unread, const std::function<void(std::string)>& use);
  void offer_tls(std::string greeting);
  std::string without_tls(std::string login);
  bool decrypt();
  void encrypt(std::string_view plain);

  State state_ = State::kGreeting;
  std::unique_ptr<SSL, Free> ssl_;
  BIO* in_;                    // owned by ssl_
  BIO* out_;                   // owned by ssl_
  std::string unread_;         // from the client, decrypted
  std::string unread_server_;  // until the login is done
  std::string wire_;           // for the client, before TLS begins
  bool named_ = false;
  pid_t pid_ = 0;
};

}  // namespace allot::fault
