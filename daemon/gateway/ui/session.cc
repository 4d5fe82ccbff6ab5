// SPDX-License-Identifier: Apache-2.0
#include "gateway/ui/session.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/mutant.h"
#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::gateway::ui {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr off_t kMostKey = 4'096;
constexpr std::int64_t kDay = 86'400;

bool same_text(std::string_view a, std::string_view b) {
  return access::same(access::hash_of(a), access::hash_of(b));
}

std::string signed_part(const access::Access::NamedToken& token, std::string_view ends) {
  return "session\n" + token.name + "\n" + std::string(ends) + "\n" + access::hex_of(token.hash);
}

// Empty, with errno: the file is unreadable, or not a key.
std::string read_key(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return {};
  errno = EINVAL;
  if (status.st_size < static_cast<off_t>(kKeyBytes) || status.st_size > kMostKey) return {};
  std::string key(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t got = ::pread(file.get(), key.data(), key.size(), 0);
  if (got != static_cast<ssize_t>(key.size())) return {};
  return key;
}

// Written completely under a private name before it is linked to its final name, and never
// replaced: two gateways that start at once both use the first key.
std::string make_key(const std::string& path) {
  const std::string mine = path + "." + std::to_string(::getpid());
  const std::string key = random_key();
  {
    const UniqueFd file(
        ::open(mine.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.valid()) return {};
    if (!write_all(file.get(), key.data(), key.size())) {
      ::unlink(mine.c_str());
      return {};
    }
  }
  const bool linked = ::link(mine.c_str(), path.c_str()) == 0 || errno == EEXIST;
  const int error = errno;
  ::unlink(mine.c_str());
  errno = error;
  return linked ? read_key(path) : std::string();
}

}  // namespace

std::string random_key() {
  std::string key(kKeyBytes, '\0');
  if (::getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) {
    throw Error("no random numbers: " + std::string(std::strerror(errno)), kExitSoftware);
  }
  return key;
}

std::string cookie_key(const std::string& file, const std::string& folder, std::string& why) {
  const std::string path = file.empty() ? folder + "/cookie.key" : file;
  std::string key = read_key(path);
  if (key.empty() && file.empty() && errno == ENOENT) key = make_key(path);
  if (key.empty()) why = path + ": " + std::strerror(errno);
  return key;
}

std::string Signer::sign(std::string_view text) const {
  access::TokenHash hash{};
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), hash.data(), &size);
  return access::hex_of(hash);
}

std::string Signer::session(const access::Access::NamedToken& token, Seconds ends) const {
  const std::string until = std::to_string(ends.time_since_epoch().count());
  // The token's name comes last, because it may contain dots.
  return sign(signed_part(token, until)) + "." + until + "." + token.name;
}

std::optional<Signer::Session> Signer::session_of(const http::Head& head,
                                                  const access::Access& access, Seconds now) const {
  const auto cookie = cookie_of(head, kCookieName);
  if (!cookie) return std::nullopt;
  const std::string_view text = *cookie;
  const std::size_t first = std::min(text.find('.'), text.size());
  const std::size_t second = text.find('.', std::min(first + 1, text.size()));
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view until = text.substr(first + 1, second - first - 1);
  std::int64_t ends = 0;
  const auto [end, error] = std::from_chars(until.data(), until.data() + until.size(), ends);
  if (error != std::errc() || end != until.data() + until.size()) return std::nullopt;
  if (Seconds(std::chrono::seconds(ends)) <= now) return std::nullopt;
  const auto token = access.token_named(text.substr(second + 1));
  if (!token) return std::nullopt;
  const bool good = same_text(sign(signed_part(*token, until)), text.substr(0, first));
  if (!good && !mutant::removed("ui_session")) return std::nullopt;
  return Session{token->caller, std::string(until)};
}

std::string Signer::form_token(std::string_view caller, std::string_view session,
                               Seconds now) const {
  const std::int64_t day = now.time_since_epoch().count() / kDay;
  std::string text = "form\n";
  text.append(caller).append("\n").append(session).append("\n").append(std::to_string(day));
  return sign(text);
}

bool Signer::is_form_token(std::string_view text, std::string_view caller, std::string_view session,
                           Seconds now) const {
  const bool today = same_text(text, form_token(caller, session, now));
  const bool before =
      same_text(text, form_token(caller, session, now - std::chrono::seconds(kDay)));
  return today || before || mutant::removed("ui_form");
}

std::optional<std::string> cookie_of(const http::Head& head, std::string_view name) {
  std::optional<std::string> found;
  for (const http::Field& field : head.fields) {
    if (field.name != "cookie") continue;
    std::string_view left = field.value;
    while (!left.empty()) {
      std::string_view pair = left.substr(0, left.find(';'));
      left.remove_prefix(std::min(left.size(), pair.size() + 1));
      pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      if (found) return std::nullopt;
      found = std::string(pair.substr(equals + 1));
    }
  }
  return found;
}

std::string next_of(std::string_view next, std::string_view base) {
  const std::string home = std::string(base) + "/ui/";
  const bool plain = std::all_of(next.begin(), next.end(), [](char c) {
    return c > 0x20 && c < 0x7f && c != '\\' && c != '"' && c != '<' && c != '>';
  });
  const bool climbs = next.find("/.") != std::string_view::npos ||
                      next.find("%2") != std::string_view::npos ||
                      next.find("//") != std::string_view::npos;
  return plain && !climbs && next.size() <= 2'000 && next.starts_with(home) ? std::string(next)
                                                                            : home;
}

}  // namespace allot::gateway::ui
