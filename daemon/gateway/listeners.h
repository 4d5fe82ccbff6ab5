// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "config/settings.h"
#include "gateway/http/server.h"

namespace allot::gateway {

// The unix socket and the TCP addresses of the gateway. They outlive a server: a reload passes them
// through exec, so that clients that connect at this moment are not refused.
class Listeners {
 public:
  // `handed_on`: descriptors left by the previous image of this process; sockets still in the
  // settings are reused, the others closed. Throws Error(kExitCannotCreate) if an address is not
  // available. Call it before other threads start: it changes the umask for a moment.
  Listeners(const config::Settings& settings, const std::vector<int>& handed_on);
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners();  // removes the unix socket's file if it still belongs to this process

  // For a server, which owns the result. `fireworq` answers at the address of [gateway.fireworq].
  [[nodiscard]] std::vector<http::Listener> for_server(http::Application* fireworq) const;
  // Kind of listener at which a connection kept by the previous image came in, if its address is
  // still served without TLS.
  enum class At { kNone, kApi, kFireworq };
  [[nodiscard]] At place_of(int connection) const;
  // Keeps all sockets open across exec and returns their descriptors. The unix socket's file
  // remains.
  [[nodiscard]] std::vector<int> hand_on();
  // "127.0.0.1:8080, /run/allot/gateway.sock", for the log.
  [[nodiscard]] std::string text() const;

 private:
  struct Place {
    std::string address;
    UniqueFd fd;
    bool local = false;
    bool fireworq = false;
  };
  std::vector<Place> places_;
  bool encrypted_;
  std::string socket_;  // its path; empty: the file is not to be removed
  ino_t socket_file_ = 0;
};

}  // namespace allot::gateway
