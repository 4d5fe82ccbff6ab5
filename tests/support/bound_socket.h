// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.h"

namespace allot::support {

// A TCP socket at a port of 127.0.0.1 that was free.
struct BoundSocket {
  UniqueFd fd;
  int port = 0;
};

// `flags` are further ones of the socket. Both throw std::system_error when no port is free.
BoundSocket bound_socket(int flags = 0);
BoundSocket listening_socket(int backlog, int flags = 0);

}  // namespace allot::support
