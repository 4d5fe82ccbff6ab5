// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/unique_fd.h"

// Thin wrappers over system calls, for every part. All restart on EINTR; failures leave errno set.
namespace allot {

// Writes all bytes. False on the first error.
bool write_all(int fd, const void* data, std::size_t size);

// For log lines, whose reader may have stopped: one write(2) that never blocks. The flags of `fd`
// are unchanged, because other processes share it. Less than `size`, or -1 with EAGAIN: no room.
ssize_t write_now(int fd, const void* data, std::size_t size);

// Opens a log file for appending; -1 on error. A FIFO without a reader is an error, so that opening
// never blocks.
int open_log(const char* path);

// Reads exactly `size` bytes. False on error or early EOF.
bool read_exact(int fd, void* data, std::size_t size);

// Maps `size` bytes of `fd` from `offset`; nullptr on error. The mapping lasts until process end.
void* map_shared(int fd, std::size_t offset, std::size_t size, bool writable);

}  // namespace allot
