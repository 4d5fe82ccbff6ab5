// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/unique_fd.h"

// Thin wrappers over system calls. All restart on EINTR; failures leave errno set.
namespace allot {

// Writes all of it. False on the first error.
bool write_all(int fd, const void* data, std::size_t size);

// Reads exactly `size` bytes. False on error or early EOF.
bool read_exact(int fd, void* data, std::size_t size);

// Maps `size` bytes of `fd` from `offset`; nullptr on error. The mapping lives until process end.
void* map_shared(int fd, std::size_t offset, std::size_t size, bool writable);

}  // namespace allot
