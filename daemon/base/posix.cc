// SPDX-License-Identifier: Apache-2.0
#include "base/posix.h"

#include <sys/mman.h>

#include <cerrno>

namespace allot {
namespace {

// Calls read() or write() until all of it is done. False on the first error or at the end of file.
template <class Call, class Byte>
bool repeat(Call call, int fd, Byte* at, std::size_t size) {
  while (size > 0) {
    const ssize_t n = call(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace

bool write_all(int fd, const void* data, std::size_t size) {
  return repeat(::write, fd, static_cast<const char*>(data), size);
}

bool read_exact(int fd, void* data, std::size_t size) {
  return repeat(::read, fd, static_cast<char*>(data), size);
}

void* map_shared(int fd, std::size_t offset, std::size_t size, bool writable) {
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* at = ::mmap(nullptr, size, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : at;
}

}  // namespace allot
