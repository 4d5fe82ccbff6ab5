// SPDX-License-Identifier: Apache-2.0
#include "db/term_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/checksum.h"
#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::db {
namespace {

constexpr std::size_t kMaxDigits = 20;

// A file holds one number as text. 0: no file.
std::uint64_t read_number(const std::string& file) {
  if (file.empty()) return 0;
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return 0;
  char digits[kMaxDigits];
  const ssize_t size = ::pread(fd.get(), digits, sizeof digits, 0);
  std::uint64_t number = 0;
  if (size > 0) std::from_chars(digits, digits + size, number);
  return number;
}

// Readers see the former number or this one, whenever the process dies.
void write_number(const std::string& file, std::uint64_t number) {
  if (file.empty()) return;
  const std::string fresh = file + "." + std::to_string(::getpid());
  {
    const UniqueFd fd(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!fd.valid()) return;
    const std::string text = std::to_string(number) + "\n";
    if (!write_all(fd.get(), text.data(), text.size())) {
      ::unlink(fresh.c_str());
      return;
    }
  }
  if (std::rename(fresh.c_str(), file.c_str()) != 0) ::unlink(fresh.c_str());
}

// A list of servers becomes part of a file's name.
std::string hash_of(const std::string& list) {
  return Checksum(list).hex(16);
}

}  // namespace

TermMemory::TermMemory(std::string folder, const std::string& list)
    : folder_(std::move(folder)),
      term_file_(folder_.empty() ? "" : folder_ + "/term-" + hash_of(list)) {}

std::uint64_t TermMemory::highest() {
  const std::uint64_t shared = read_number(term_file_);
  const MutexLock held(mutex_);
  highest_ = std::max(highest_, shared);
  return highest_;
}

// Another process may write a lower term at the same time, so the file is read again.
void TermMemory::saw(std::uint64_t term) {
  constexpr int kTries = 3;
  if (term <= highest()) return;
  for (int tries = 0; tries < kTries && read_number(term_file_) < term; ++tries) {
    write_number(term_file_, term);
  }
  const MutexLock held(mutex_);
  highest_ = std::max(highest_, term);
}

std::string TermMemory::silent_file(const std::string& where) const {
  return folder_.empty() ? "" : folder_ + "/silent-" + hash_of(where);
}

bool TermMemory::is_silent(const std::string& where) {
  const Nanos now = boot_ns();
  Nanos until = read_number(silent_file(where));
  const MutexLock held(mutex_);
  const auto own = silent_until_.find(where);
  if (own != silent_until_.end()) until = std::max(until, own->second);
  // A time further ahead comes from an earlier boot.
  return until > now && until <= now + kSpared;
}

void TermMemory::found_silent(const std::string& where) {
  const Nanos until = boot_ns() + kSpared;
  write_number(silent_file(where), until);
  const MutexLock held(mutex_);
  silent_until_[where] = until;
}

void TermMemory::found_answering(const std::string& where) {
  const std::string file = silent_file(where);
  if (!file.empty()) ::unlink(file.c_str());
  const MutexLock held(mutex_);
  silent_until_.erase(where);
}

}  // namespace allot::db
