// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#include "peer/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/posix.h"

namespace allot::peer {
namespace {

// Linux before 5.14 lacks this advice: there the space of the file is allocated without the
// mapping.
bool have_pages(int fd, std::size_t offset, void* at, std::size_t size) {
  if (madvise(at, size, MADV_POPULATE_WRITE) == 0) return true;
  return errno == EINVAL &&
         fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0;
}

}  // namespace

void* map_present(int fd, std::size_t offset, std::size_t size) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return nullptr;
  if (static_cast<std::size_t>(status.st_size) < offset + size) {
    errno = EINVAL;
    return nullptr;
  }
  void* at = map_shared(fd, offset, size, true);
  if (at == nullptr || have_pages(fd, offset, at, size)) return at;
  const int error = errno == EFAULT ? ENOSPC : errno;
  munmap(at, size);
  errno = error;
  return nullptr;
}

}  // namespace allot::peer
