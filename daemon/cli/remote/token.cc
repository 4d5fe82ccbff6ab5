// SPDX-License-Identifier: Apache-2.0
#include "cli/remote/token.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "config/secret_file.h"

namespace allot::cli::remote {
namespace {

constexpr std::size_t kMostToken = 4096;

// An invalid byte could begin another field of the request.
std::string checked(std::string token, const std::string& from) {
  token.erase(token.find_last_not_of(" \t\r\n") + 1);
  token.erase(0, token.find_first_not_of(" \t\r\n"));
  if (token.empty()) throw Error(from + " has no token", kExitConfig);
  bool good = token.size() <= kMostToken;
  for (const char c : token) good = good && c > ' ' && c < '\x7f';
  if (good) return token;
  throw Error(from + " is not a token: write one word, as printed by allot gateway token",
              kExitConfig);
}

std::string in_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostToken + 2, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file && !file.eof()) {
    throw Error("token file " + path + ": cannot be read: " + std::strerror(errno), kExitNoInput);
  }
  const std::string shared = config::shared_secret("token", path);
  if (!shared.empty()) std::fprintf(stderr, "allot: warning: %s\n", shared.c_str());
  text.resize(static_cast<std::size_t>(file.gcount()));
  return checked(std::move(text), "token file " + path);
}

}  // namespace

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string read_token(const std::string& file) {
  if (!file.empty()) return in_file(file);
  if (const std::string named = variable("ALLOT_TOKEN_FILE"); !named.empty()) return in_file(named);
  const std::string token = variable("ALLOT_TOKEN");
  return token.empty() ? token : checked(token, "$ALLOT_TOKEN");
}

}  // namespace allot::cli::remote
