// SPDX-License-Identifier: Apache-2.0
#include "supervisor/sd_notify.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "supervisor/spawn.h"

namespace allot::supervisor {

void Notifier::open() {
  const char* path = std::getenv("NOTIFY_SOCKET");
  const char* watchdog = std::getenv("WATCHDOG_USEC");
  if (watchdog != nullptr) watchdog_ns_ = std::strtoull(watchdog, nullptr, 10) * kMicro / 2;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = path == nullptr ? 0 : std::strlen(path);
  if (size > 1 && size < sizeof address.sun_path) {
    std::memcpy(address.sun_path, path, size);
    if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // abstract namespace
    socket_.reset(high_fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) {
      socket_.reset();
    }
  }
  for (const char* name : {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"}) ::unsetenv(name);
}

void Notifier::send(const char* format, ...) {
  if (!socket_.valid()) return;
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  const int size = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  // A datagram is lost if systemd does not read; the next one repeats it.
  if (size > 0) {
    (void)::send(socket_.get(), text, std::strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

}  // namespace allot::supervisor
