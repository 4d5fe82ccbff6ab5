// SPDX-License-Identifier: Apache-2.0
#include "gateway/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace allot::gateway {

void tell_systemd(const char* text) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = path == nullptr ? 0 : std::strlen(path);
  if (size < 2 || size >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, size);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // abstract socket address
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
  static_cast<void>(::sendto(fd.get(), text, std::strlen(text), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

}  // namespace allot::gateway
