// SPDX-License-Identifier: Apache-2.0
#include "base/posix.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

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

bool make_folders(const char* path, unsigned mode) {
  char buffer[PATH_MAX];
  const int length = std::snprintf(buffer, sizeof buffer, "%s", path);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof buffer) {
    errno = ENAMETOOLONG;
    return false;
  }
  for (char* at = buffer + 1;; ++at) {
    if (*at != '/' && *at != '\0') continue;
    const char kept = *at;
    *at = '\0';
    if (::mkdir(buffer, mode) != 0 && errno != EEXIST) return false;
    *at = kept;
    if (kept == '\0') return true;
  }
}

}  // namespace allot
