// SPDX-License-Identifier: Apache-2.0
#include "base/posix.h"

#include <sys/mman.h>

#include <cerrno>

namespace allot {

bool write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_exact(int fd, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = ::read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

void* map_shared(int fd, std::size_t offset, std::size_t size, bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* at = ::mmap(nullptr, size, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace allot
