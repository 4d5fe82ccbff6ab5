// SPDX-License-Identifier: Apache-2.0
// Rule: S24.
#include "supervisor/instance.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/posix.h"
#include "supervisor/log.h"
#include "supervisor/spawn.h"

namespace allot::supervisor {
namespace {

bool report(const char* what, const char* path) {
  log_event(kError, "instance.failed", "what=%s path=%s error=\"%s\"", Quoted(what).c_str(),
            Quoted(path).c_str(), std::strerror(errno));
  return false;
}

// A worker of an earlier run may hold the lock: then the pid in the file is dead (reaped or not) or
// not allotd.
bool is_allotd(long pid) {
  char path[64];
  char text[64] = {};
  std::snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  const UniqueFd file(open(path, O_RDONLY | O_CLOEXEC));
  if (!file.valid() || read(file.get(), text, sizeof text - 1) <= 0) return false;
  constexpr char kName[] = " (allotd) ";  // then the state
  const char* name = std::strstr(text, kName);
  return name != nullptr && std::strchr("ZX", name[sizeof kName - 1]) == nullptr;
}

constexpr char kNoRoom[] =
    "cannot be created; free space there, or set [daemon] runtime_dir to another file system";

// Allocates the disk space of a part of a file. Without it, a write to the mapping would end the
// writer by SIGBUS when the file system is full.
bool take_room(int fd, std::size_t offset, std::size_t size) {
  errno = posix_fallocate(fd, static_cast<off_t>(offset), static_cast<off_t>(size));
  return errno == 0;
}

// Makes a file of `size` zero bytes, the first `taken` of them allocated, that appears at `path` in
// one step. The former file is no longer used, and the new one may need its space.
UniqueFd make_file(const char* path, std::size_t size, std::size_t taken, unsigned mode) {
  char fresh[PATH_MAX];
  std::snprintf(fresh, sizeof fresh, "%s.new", path);
  unlink(fresh);
  unlink(path);
  UniqueFd file(high_fd(open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)));
  if (!file.valid() || fchmod(file.get(), mode) != 0 ||
      ftruncate(file.get(), static_cast<off_t>(size)) != 0 || !take_room(file.get(), 0, taken) ||
      rename(fresh, path) != 0) {
    report(kNoRoom, path);
    unlink(fresh);
    return UniqueFd();
  }
  return file;
}

}  // namespace

Instance::Lock Instance::lock(const char* folder) {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/lock", folder);
  lock_.reset(high_fd(open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0640)));
  if (!lock_.valid()) {
    report("lock cannot be opened; its folder is [daemon] runtime_dir", path);
    return Lock::kRefused;
  }
  char text[32] = {};
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) {
    // The rest of the file stays.
    std::snprintf(text, sizeof text, "%*d\n", ipc::kLockPidSize - 1, getpid());
    if (pwrite(lock_.get(), text, ipc::kLockPidSize, 0) == ipc::kLockPidSize) return Lock::kTaken;
    report("lock cannot be written", path);
    return Lock::kRefused;
  }
  (void)!pread(lock_.get(), text, sizeof text - 1, 0);
  const long pid = std::strtol(text, nullptr, 10);
  lock_.reset();
  if (!is_allotd(pid)) return Lock::kBusy;
  log_event(kError, "instance.taken",
            "pid=%ld path=%s fix=\"stop it, or set another [daemon] instance for this one\"", pid,
            Quoted(path).c_str());
  return Lock::kRefused;
}

bool Instance::make_files(const char* folder, const char* name, std::uint32_t workers) {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/slots", folder);
  slots_fd_ = make_file(path, ipc::slot_offset(ipc::kMaxSlots), ipc::slot_offset(workers), 0640);
  if (!slots_fd_.valid()) return false;
  if (!map_slots()) return report("cannot be mapped", path);
  ipc::SlotFileHeader& head = header();
  std::memcpy(head.magic, ipc::kSlotMagic, sizeof head.magic);
  head.version = ipc::kSlotVersion;
  head.slot_count = ipc::kMaxSlots;
  head.slot_size = sizeof(ipc::Slot);
  head.supervisor_pid = static_cast<std::uint32_t>(getpid());
  head.started_mono_ns = mono_ns();
  std::snprintf(head.instance, sizeof head.instance, "%s", name);

  std::snprintf(path, sizeof path, "%s/board", folder);
  board_fd_ = make_file(path, sizeof(ipc::Board), sizeof(ipc::Board), 0660);
  if (!board_fd_.valid()) return false;
  auto* board = static_cast<ipc::Board*>(map_shared(board_fd_.get(), 0, sizeof(ipc::Board), true));
  if (board == nullptr) return report("cannot be mapped", path);
  std::memcpy(board->magic, ipc::kBoardMagic, sizeof board->magic);
  board->version = ipc::kBoardVersion;
  return true;
}

bool Instance::make_room(std::uint32_t index) {
  return take_room(slots_fd_.get(), ipc::slot_offset(index), sizeof(ipc::Slot)) ||
         report(kNoRoom, "slots");
}

bool Instance::map_slots() {
  const std::size_t size = ipc::slot_offset(ipc::kMaxSlots);
  slots_ = static_cast<char*>(map_shared(slots_fd_.get(), 0, size, true));
  return slots_ != nullptr;
}

ipc::SlotFileHeader& Instance::header() {
  return *reinterpret_cast<ipc::SlotFileHeader*>(slots_);
}

ipc::Slot& Instance::slot(std::uint32_t index) {
  return *reinterpret_cast<ipc::Slot*>(slots_ + ipc::slot_offset(index));
}

}  // namespace allot::supervisor
