// SPDX-License-Identifier: Apache-2.0
#include "peer/handler_types.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::peer {
namespace {

constexpr std::string_view kVersion = "allot types 1\n";
constexpr std::size_t kMost = std::size_t{4} << 20;

std::string file_in(const std::string& folder) {
  return folder + "/types";
}

}  // namespace

bool write_types(const std::string& folder, const std::vector<std::string>& types) {
  std::string text(kVersion);
  for (const std::string& type : types) text += type + "\n";
  const std::string file = file_in(folder);
  const std::string next = file + "." + std::to_string(getpid());
  const UniqueFd out(
      open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!out.valid()) return false;
  const bool written =
      write_all(out.get(), text.data(), text.size()) && rename(next.c_str(), file.c_str()) == 0;
  if (!written) unlink(next.c_str());
  return written;
}

std::optional<std::vector<std::string>> read_types(const std::string& folder) {
  const UniqueFd in(open(file_in(folder).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!in.valid()) return std::nullopt;
  std::string text;
  char bytes[4096];
  ssize_t got = 0;
  while (text.size() < kMost && (got = read(in.get(), bytes, sizeof bytes)) > 0) {
    text.append(bytes, static_cast<std::size_t>(got));
  }
  if (got != 0 || text.compare(0, kVersion.size(), kVersion) != 0) return std::nullopt;
  std::vector<std::string> types;
  std::size_t begin = kVersion.size();
  for (std::size_t end = 0; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    if (end == std::string::npos) return std::nullopt;
    types.push_back(text.substr(begin, end - begin));
  }
  return types;
}

bool takes(const std::vector<std::string>& types, std::string_view type) {
  return std::any_of(types.begin(), types.end(), [&](std::string_view known) {
    if (!known.ends_with('*')) return known == type;
    return type.starts_with(known.substr(0, known.size() - 1));
  });
}

}  // namespace allot::peer
