// SPDX-License-Identifier: Apache-2.0
#include "support/bound_socket.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace allot::support {

BoundSocket bound_socket(int flags) {
  BoundSocket made{UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0))};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (::bind(made.fd.get(), address, size) != 0 ||
      ::getsockname(made.fd.get(), address, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "no port is free");
  }
  made.port = ntohs(at.sin_port);
  return made;
}

BoundSocket listening_socket(int backlog, int flags) {
  BoundSocket made = bound_socket(flags);
  if (::listen(made.fd.get(), backlog) != 0) {
    throw std::system_error(errno, std::generic_category(), "listen");
  }
  return made;
}

}  // namespace allot::support
