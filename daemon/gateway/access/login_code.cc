// SPDX-License-Identifier: Apache-2.0
#include "gateway/access/login_code.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/mutant.h"
#include "base/posix.h"
#include "base/unique_fd.h"
#include "gateway/access/token.h"

namespace allot::gateway::access {
namespace {

constexpr std::size_t kMostFile = 512;

std::string path_in(const std::string& folder) {
  return folder + "/login.code";
}

// Content of the file: hash of the code, its expiry, and the name of its token.
struct StoredCode {
  TokenHash hash{};
  std::int64_t ends = 0;
  std::string token;
};

std::optional<StoredCode> read_stored(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.valid()) return std::nullopt;
  std::array<char, kMostFile> text{};
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  std::istringstream words(std::string(text.data(), static_cast<std::size_t>(size)));
  std::string hash;
  StoredCode stored;
  words >> hash >> stored.ends >> stored.token;
  const auto parsed = parse_hash(hash);
  if (!words || !parsed) return std::nullopt;
  stored.hash = *parsed;
  return stored;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error("cannot write " + path + ": " + std::strerror(error) +
                  "; run this as the account of allotd or as root, while allotd is running",
              kExitCannotCreate);
}

// Creates the file. False: errno has the reason.
bool write_file(const std::string& path, const std::string& text, const struct stat& owner) {
  const UniqueFd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid()) return false;
  // A file created by root must be readable for the daemon's account, the owner of this folder.
  const bool given = ::geteuid() != 0 || ::fchown(file.get(), owner.st_uid, owner.st_gid) == 0;
  return given && write_all(file.get(), text.data(), text.size());
}

}  // namespace

std::string make_login_code(const std::string& folder, const std::string& token_name,
                            std::chrono::sys_seconds now) {
  const std::string code = hex_of(hash_of(make_token())).substr(0, 32);
  const std::string path = path_in(folder);
  const std::string mine = path + "." + std::to_string(::getpid());
  const std::string text = hex_of(hash_of(code)) + " " +
                           std::to_string((now + kLoginCodeLength).time_since_epoch().count()) +
                           " " + token_name + "\n";
  struct stat owner {};
  if (::stat(folder.c_str(), &owner) != 0) fail(path, errno);
  if (!write_file(mine, text, owner) || ::rename(mine.c_str(), path.c_str()) != 0) {
    const int error = errno;
    if (error != EEXIST) ::unlink(mine.c_str());
    fail(path, error);
  }
  return code;
}

std::optional<std::string> take_login_code(const std::string& folder, std::string_view code,
                                           std::chrono::sys_seconds now) {
  const std::string path = path_in(folder);
  const auto stored = read_stored(path);
  if (!stored || !same(stored->hash, hash_of(code))) return std::nullopt;
  const std::int64_t left = stored->ends - now.time_since_epoch().count();
  if (left <= 0 || left > kLoginCodeLength.count()) return std::nullopt;
  // S92: if two callers have the code, only one of them removes the file.
  if (!mutant::removed("ui_code") && ::unlink(path.c_str()) != 0) return std::nullopt;
  return stored->token;
}

}  // namespace allot::gateway::access
