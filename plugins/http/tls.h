// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "url.h"

namespace Poco::Net {
class StreamSocket;
}

namespace http_plugin {

// PEM files; empty: the system's authorities, and no client certificate.
struct TlsFiles {
  std::string ca;
  std::string cert;
  std::string key;

  friend auto operator<=>(const TlsFiles&, const TlsFiles&) = default;
};

// TLS settings of one target: verifies chain, validity and name of its certificate, TLS 1.2 or
// later. The verification cannot be disabled. Constant after construction; any thread may use it.
class Tls {
 public:
  // Throws std::invalid_argument that names the file.
  Tls(const Origin& origin, const TlsFiles& files);
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls();

  // Wraps `plain` after the handshake. Throws Trouble that says why the target is not trusted, or
  // what failed.
  [[nodiscard]] Poco::Net::StreamSocket secured(const Poco::Net::StreamSocket& plain) const;

 private:
  struct Context;
  Origin origin_;
  std::unique_ptr<Context> context_;
};

}  // namespace http_plugin
