// SPDX-License-Identifier: Apache-2.0
#include "support/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "base/posix.h"

namespace allot::support {
namespace {

bool put(const char* path, const std::string& text) {
  const UniqueFd file(open(path, O_WRONLY | O_CLOEXEC));
  return file.valid() && write_all(file.get(), text.data(), text.size());
}

bool own_namespaces() {
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  if (unshare(CLONE_NEWNS) == 0) return true;
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") &&
         put("/proc/self/uid_map", user + " " + user + " 1") &&
         put("/proc/self/gid_map", group + " " + group + " 1");
}

// Also closes the other end of another disk's `alive`, which would keep that disk mounted.
void close_all_but(int one, int other) {
  const auto [low, high] = std::minmax(one, other);
  const auto shut = [](int first, int last) {
    if (first <= last) (void)syscall(SYS_close_range, first, last, 0);
  };
  shut(3, low - 1);
  shut(low + 1, high - 1);
  (void)syscall(SYS_close_range, high + 1, ~0U, 0);
}

// Reports the errno of a failure, or 0, and stays until `alive` is at EOF.
[[noreturn]] void keep(const std::string& mount_point, std::size_t bytes, int told, int alive) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  close_all_but(told, alive);
  const std::string options = "mode=0755,size=" + std::to_string(bytes);
  const bool made = own_namespaces() &&
                    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    mount("tmpfs", mount_point.c_str(), "tmpfs", 0, options.c_str()) == 0;
  const int error = made ? 0 : errno;
  write_all(told, &error, sizeof error);
  char c = 0;
  if (made) (void)!read(alive, &c, 1);
  _exit(0);
}

}  // namespace

SmallDisk::SmallDisk(std::size_t bytes) {
  std::array<int, 2> told{};
  std::array<int, 2> alive{};
  if (pipe2(told.data(), O_CLOEXEC) != 0 || pipe2(alive.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  const UniqueFd told_read(told[0]);
  UniqueFd told_write(told[1]);
  const UniqueFd alive_read(alive[0]);
  alive_.reset(alive[1]);
  pid_ = fork();
  if (pid_ == 0) {
    alive_.reset();
    keep(mount_point_.path(), bytes, told_write.get(), alive_read.get());
  }
  told_write.reset();
  int error = 0;
  if (!read_exact(told_read.get(), &error, sizeof error)) error = ECHILD;
  if (error != 0) trouble_ = std::string("no file system can be mounted: ") + std::strerror(error);
  root_ = "/proc/" + std::to_string(pid_) + "/root" + mount_point_.path();
}

SmallDisk::~SmallDisk() {
  alive_.reset();
  waitpid(pid_, nullptr, 0);
}

std::string SmallDisk::operator/(const std::string& name) const {
  return root_ + "/" + name;
}

void SmallDisk::leave(std::size_t bytes) const {
  const UniqueFd file(open((*this / "filler").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid() || ftruncate(file.get(), 0) != 0) fail(errno);
  // Another writer may take space that was free a moment ago.
  for (int looks_left = 100;; --looks_left) {
    struct statvfs status {};
    if (fstatvfs(file.get(), &status) != 0) fail(errno);
    const std::size_t free = status.f_bavail * status.f_frsize;
    const std::size_t size = free - std::min(free, bytes);
    if (size == 0) return;
    const int error = posix_fallocate(file.get(), 0, static_cast<off_t>(size));
    if (error == 0) return;
    if (error != ENOSPC || looks_left == 0) fail(error);
  }
}

void SmallDisk::fail(int error) const {
  throw std::runtime_error(root_ + ": " + std::strerror(error));
}

}  // namespace allot::support
