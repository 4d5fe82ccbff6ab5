// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "base/unique_fd.h"

namespace allot::supervisor {

// systemd's end of the protocol: a bound datagram socket. A leading '@' means the abstract name
// space.
class Listener {
 public:
  explicit Listener(const std::string& name)
      : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    timeval patience{20, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }

  // The next datagram; "nothing" after a timeout.
  std::string receive() {
    std::array<char, 1024> buffer{};
    const ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<std::size_t>(size));
  }

  // Reads until a datagram contains `text`. Returns that datagram, or "nothing".
  std::string receive_until(const std::string& text) {
    for (;;) {
      const std::string got = receive();
      if (got == "nothing" || got.find(text) != std::string::npos) return got;
    }
  }

 private:
  UniqueFd socket_;
};

}  // namespace allot::supervisor
