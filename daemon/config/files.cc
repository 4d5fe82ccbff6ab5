// SPDX-License-Identifier: Apache-2.0
#include "config/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::config {
namespace {

constexpr std::string_view kHead = "allot configuration 1\n";

// Appends the file from `offset`. Does not move the offset of the descriptor, which is shared by
// every process that inherited it.
int append_from(int fd, off_t offset, std::string& text) {
  std::array<char, 16384> buffer{};
  for (bool seeks = true;;) {
    const ssize_t size = seeks ? ::pread(fd, buffer.data(), buffer.size(), offset)
                               : ::read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == ESPIPE && seeks) {
      seeks = false;  // a configuration may come from a pipe
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    if (size == 0) return 0;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    offset += size;
  }
}

void pack(std::string& to, const std::string& text) {
  to.append(std::to_string(text.size())).append(1, '\n').append(text);
}

std::string unpack(std::string_view& from) {
  std::size_t size = 0;
  std::size_t at = 0;
  while (at < from.size() && from[at] >= '0' && from[at] <= '9' && at < 10) {
    size = size * 10 + static_cast<std::size_t>(from[at++] - '0');
  }
  if (at == 0 || at >= from.size() || from[at] != '\n' || size > from.size() - at - 1) {
    throw Error("the copy of the checked configuration is incomplete", kExitConfig);
  }
  const std::string text(from.substr(at + 1, size));
  from.remove_prefix(at + 1 + size);
  return text;
}

}  // namespace

Files::Files(int copy) : copied_(true) {
  std::string text;
  if (append_from(copy, 0, text) != 0 || !text.starts_with(kHead)) {
    throw Error(
        "the copy of the checked configuration was written by another version of Allot; send HUP",
        kExitConfig);
  }
  std::string_view left = std::string_view(text).substr(kHead.size());
  first = unpack(left);
  named = unpack(left);
  while (!left.empty()) {
    const std::string path = unpack(left);
    texts_[path] = unpack(left);
  }
}

bool Files::is_copy(int fd, bool kept) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  return seals >= 0 && ((seals & F_SEAL_WRITE) != 0) == kept;
}

int Files::read(const std::string& path, std::string& text) {
  if (const auto found = texts_.find(path); found != texts_.end()) {
    text = found->second;
    return 0;
  }
  if (copied_) return ENOENT;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return errno;
  std::string all;
  if (const int error = append_from(fd.get(), 0, all); error != 0) return error;
  text = texts_[path] = std::move(all);
  return 0;
}

std::string Files::packed() const {
  std::string text(kHead);
  pack(text, first);
  pack(text, named);
  for (const auto& [path, content] : texts_) {
    pack(text, path);
    pack(text, content);
  }
  return text;
}

void Files::keep(int copy) const {
  const std::string text = packed();
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fchmod(copy, S_IRUSR) == 0 && write_all(copy, text.data(), text.size()) &&
      ::fcntl(copy, F_ADD_SEALS, kSeals) == 0) {
    return;
  }
  throw Error(
      "the copy of the configuration cannot be written: " + std::string(std::strerror(errno)),
      kExitSoftware);
}

std::uint64_t Files::mark() const {
  std::string all;
  for (const auto& [path, content] : texts_) pack(all, content);
  return Checksum(all).value();
}

std::uint64_t Files::place() const {
  if (first.empty()) return 0;
  return Checksum(std::filesystem::absolute(first).lexically_normal().string()).value();
}

}  // namespace allot::config
