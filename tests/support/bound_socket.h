// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.h"

namespace allot::support {

// A TCP socket bound to a free port of 127.0.0.1.
struct BoundSocket {
  UniqueFd fd;
  int port = 0;
};

// `flags` are additional socket flags. Both throw std::system_error if no port is free.
BoundSocket bound_socket(int flags = 0);
BoundSocket listening_socket(int backlog, int flags = 0);

}  // namespace allot::support
