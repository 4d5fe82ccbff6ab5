// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/unique_fd.h"

// Thin wrappers over system calls. All restart on EINTR; failures leave errno set.
namespace allot {

// Writes all of it. False on the first error.
bool write_all(int fd, const void* data, std::size_t size);

// For lines of a log, whose reader may stand still: one write(2) that never waits for it. The flags
// of `fd` stay, because they belong to all who share it. Less than `size`, or -1 with EAGAIN: there
// is no room.
ssize_t write_now(int fd, const void* data, std::size_t size);

// Opens a log file to append to; -1 on error. A FIFO without a reader is one, so that nothing waits
// for its reader.
int open_log(const char* path);

// Reads exactly `size` bytes. False on error or early EOF.
bool read_exact(int fd, void* data, std::size_t size);

// Maps `size` bytes of `fd` from `offset`; nullptr on error. The mapping lives until process end.
void* map_shared(int fd, std::size_t offset, std::size_t size, bool writable);

}  // namespace allot
