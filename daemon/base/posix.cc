// SPDX-License-Identifier: Apache-2.0
#include "base/posix.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

namespace allot {
namespace {

// Calls read() or write() until all bytes are done. False on the first error or at end of file.
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

// S71: a file never blocks, and for a socket the flag of this one call is enough. A pipe or a
// terminal is opened again, because the flags of a new description are private. That fails without
// /proc or if another user owns the pipe; then a pipe with room takes PIPE_BUF bytes, unless
// another process fills that room first.
ssize_t write_now(int fd, const void* data, std::size_t size) {
  if (::lseek(fd, 0, SEEK_CUR) >= 0) return ::write(fd, data, size);
  const ssize_t sent = ::send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const UniqueFd own(::open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own.valid()) return ::write(own.get(), data, size);
  pollfd room{fd, POLLOUT, 0};
  const bool has_room = ::poll(&room, 1, 0) > 0;
  errno = EAGAIN;
  return has_room ? ::write(fd, data, std::min<std::size_t>(size, PIPE_BUF)) : -1;
}

int open_log(const char* path) {
  const int fd = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0640);
  if (fd >= 0) ::fcntl(fd, F_SETFL, O_APPEND);  // inherited by handlers that print
  return fd;
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
