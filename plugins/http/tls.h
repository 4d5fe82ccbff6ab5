// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "url.h"

namespace Poco::Net {
class StreamSocket;
}

namespace http_plugin {

// Files in PEM; empty: the authorities of the system, and no certificate of our own.
struct TlsFiles {
  std::string ca;
  std::string cert;
  std::string key;

  friend auto operator<=>(const TlsFiles&, const TlsFiles&) = default;
};

// How one target is trusted: chain, times and name of its certificate, TLS 1.2 at least. There is
// no switch to leave that out. Made once, then any thread may use it.
class Tls {
 public:
  // Throws std::invalid_argument that names the file.
  Tls(const Origin& origin, const TlsFiles& files);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls();

  // The socket in `plain` after the handshake. Throws Trouble that says why the target is not to be
  // trusted, or what broke.
  [[nodiscard]] Poco::Net::StreamSocket secured(const Poco::Net::StreamSocket& plain) const;

 private:
  struct Context;
  Origin origin_;
  std::unique_ptr<Context> context_;
};

}  // namespace http_plugin
