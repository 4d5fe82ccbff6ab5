// SPDX-License-Identifier: Apache-2.0
#include "support/reserved_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace allot::support {

ReservedPort::ReservedPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  if (::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(fd_.get(), address, size) != 0 || ::getsockname(fd_.get(), address, &size) != 0) {
    throw std::system_error(errno, std::generic_category(), "no port is free");
  }
  number_ = ntohs(at.sin_port);
}

}  // namespace allot::support
