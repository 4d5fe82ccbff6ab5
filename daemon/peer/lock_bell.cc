// SPDX-License-Identifier: Apache-2.0
#include "peer/lock_bell.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "base/checksum.h"
#include "base/unique_fd.h"
#include "peer/doorbell.h"
#include "peer/shared_file.h"

namespace allot::peer {
namespace {

constexpr std::size_t kBells = 256;
constexpr std::size_t kBytes = kBells * sizeof(ipc::Bell);
constexpr const char* kFile = "lock-bells";
constexpr mode_t kMode = 0660;  // as for the board

// Every program that shares the file has to compute the same place.
std::size_t place_of(const std::string& name) {
  return Checksum(name).value() % kBells;
}

// Invalid if the file is missing and this account may not create it: if root made it, the daemon
// could not open it.
UniqueFd open_file(const std::string& runtime_dir) {
  const UniqueFd folder(open(runtime_dir.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder.valid() || fstat(folder.get(), &status) != 0) return UniqueFd();
  UniqueFd file(openat(folder.get(), kFile, O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file.valid() && status.st_uid == geteuid()) {
    file.reset(openat(folder.get(), kFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kMode));
    if (file.valid() && fchmod(file.get(), kMode) != 0) return UniqueFd();
  }
  // Its maker may not have set the size yet: the size is always the same.
  if (file.valid() && fstat(file.get(), &status) == 0 && status.st_size == 0 &&
      ftruncate(file.get(), off_t{kBytes}) != 0) {
    return UniqueFd();
  }
  return file;
}

}  // namespace

LockBell::LockBell(const std::string& runtime_dir, const std::string& name) {
  if (runtime_dir.empty()) return;
  const UniqueFd file = open_file(runtime_dir);
  if (file.valid()) file_ = static_cast<ipc::Bell*>(map_present(file.get(), 0, kBytes));
  if (file_ != nullptr) bell_ = file_ + place_of(name);
}

LockBell::~LockBell() {
  if (file_ != nullptr) munmap(file_, kBytes);
}

void LockBell::wait(std::uint32_t seen, Nanos timeout) {
  wait_for_ring(*bell_, seen, timeout);
}

void LockBell::ring() {
  if (file_ != nullptr) wake(*bell_, INT_MAX);
}

}  // namespace allot::peer
