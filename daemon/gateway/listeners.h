// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "config/settings.h"
#include "gateway/http/server.h"

namespace allot::gateway {

// The places that the gateway listens at: its unix socket and its TCP addresses. They outlive a
// server, so that a reload hands them on over exec, and nobody who connects meanwhile is refused.
class Listeners {
 public:
  // `handed_on` are the descriptors that a former image of this process left; those that the
  // settings still have are taken over, and the others closed. Throws Error(kExitCannotCreate) when
  // an address cannot be had. Call it before other threads start: it changes the umask for a
  // moment.
  Listeners(const config::Settings& settings, const std::vector<int>& handed_on);
  Listeners(const Listeners&) = delete;
  Listeners& operator=(const Listeners&) = delete;
  ~Listeners();  // removes the unix socket's file, if it is still that of this process

  // For a server, which closes what it gets. `fireworq` answers at the place of [gateway.fireworq].
  [[nodiscard]] std::vector<http::Listener> for_server(http::Application* fireworq) const;
  // At which kind of place a connection came in that a former image of this process kept, if it
  // would come in there in plain now, too.
  enum class At { kNone, kApi, kFireworq };
  [[nodiscard]] At place_of(int connection) const;
  // Keeps all of them open over exec; their numbers. The file of the unix socket stays then.
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
