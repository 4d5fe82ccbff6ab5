// SPDX-License-Identifier: Apache-2.0
#include "config/secret_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace allot::config {

std::string shared_secret(const std::string& what, const std::string& file) {
  struct stat status = {};
  if (::stat(file.c_str(), &status) != 0 || (status.st_mode & 0007U) == 0) return {};
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
  return file + " holds a " + what + " and is open to every user of this host (mode " +
         mode.data() + "); run chmod o= " + file;
}

bool names_a_secret(std::string_view key) {
  std::string lower(key);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 6> kWords = {"password", "passwd",     "secret",
                                                      "token",    "credential", "key"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

}  // namespace allot::config
