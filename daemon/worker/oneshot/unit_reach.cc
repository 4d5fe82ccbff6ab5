// SPDX-License-Identifier: Apache-2.0
#include "worker/oneshot/unit_reach.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/posix.h"
#include "base/unique_fd.h"

namespace allot::worker {
namespace {

constexpr const char* kShow =
    "systemctl show allotd.service --property="
    "LoadState,User,Group,SupplementaryGroups,ProtectHome,BindPaths,BindReadOnlyPaths 2>/dev/null";

UnitReach::Properties shown_by_systemd() {
  UnitReach::Properties unit;
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(kShow, "re"), &::pclose);
  if (!output) return unit;
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), output.get())) {
    text.append(part.data(), got);
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) unit[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return unit;
}

std::string value_of(const UnitReach::Properties& unit, const char* name) {
  const auto found = unit.find(name);
  return found == unit.end() ? std::string() : found->second;
}

// The destinations of "SOURCE:DESTINATION:rbind ...".
std::vector<std::string> destinations(const std::string& binds) {
  std::vector<std::string> found;
  std::istringstream words(binds);
  for (std::string word; words >> word;) {
    const std::size_t colon = word.find(':');
    if (colon == std::string::npos) {
      found.push_back(word);
      continue;
    }
    const std::size_t end = word.find(':', colon + 1);
    found.push_back(word.substr(colon + 1, end == std::string::npos ? end : end - colon - 1));
  }
  return found;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// A refused access: number of bytes of the path up to the part that refused it.
struct Refusal {
  std::size_t length = 0;
  int error = 0;
};

// Runs in a child, because it cannot be undone. `base` is open as `folder`: the folders above it do
// not count.
Refusal try_as(uid_t user, const std::vector<gid_t>& groups, int folder, const std::string& base,
               const std::string& path, int mode) {
  if (::setgroups(groups.size(), groups.data()) != 0 ||
      ::setresgid(groups.front(), groups.front(), groups.front()) != 0 ||
      ::setresuid(user, user, user) != 0) {
    return {};
  }
  if (::faccessat(folder, ".", X_OK, 0) != 0) return {base.size(), errno};
  const std::size_t first = base.size() + 1;
  for (std::size_t at = path.find('/', first); at < path.size(); at = path.find('/', at + 1)) {
    if (::faccessat(folder, path.substr(first, at - first).c_str(), X_OK, 0) != 0) {
      return {at, errno};
    }
  }
  const std::string rest = path.size() > first ? path.substr(first) : ".";
  return ::faccessat(folder, rest.c_str(), mode, 0) == 0 ? Refusal{} : Refusal{path.size(), errno};
}

}  // namespace

std::optional<UnitReach> UnitReach::find() {
  if (::geteuid() != 0) return std::nullopt;
  Properties unit = shown_by_systemd();
  if (value_of(unit, "LoadState") != "loaded") unit = {{"User", "allot"}};
  return of(unit);
}

std::optional<UnitReach> UnitReach::of(const Properties& unit) {
  UnitReach reach;
  reach.account_ = value_of(unit, "User");
  if (reach.account_.empty()) reach.account_ = "root";
  const passwd* account = ::getpwnam(reach.account_.c_str());
  if (account == nullptr) return std::nullopt;
  reach.user_ = account->pw_uid;
  gid_t primary = account->pw_gid;
  std::istringstream names(value_of(unit, "Group") + " " + value_of(unit, "SupplementaryGroups"));
  std::vector<gid_t> more;
  for (std::string name; names >> name;) {
    const group* found = ::getgrnam(name.c_str());
    if (found == nullptr) return std::nullopt;
    more.push_back(found->gr_gid);
  }
  if (!value_of(unit, "Group").empty()) primary = more.front();
  std::array<gid_t, 256> own{};
  int count = own.size();
  if (::getgrouplist(reach.account_.c_str(), primary, own.data(), &count) < 0) return std::nullopt;
  reach.groups_ = {primary};
  reach.groups_.insert(reach.groups_.end(), own.begin(), own.begin() + count);
  reach.groups_.insert(reach.groups_.end(), more.begin(), more.end());
  reach.protect_home_ = value_of(unit, "ProtectHome");
  for (const char* name : {"BindPaths", "BindReadOnlyPaths"}) {
    for (std::string& folder : destinations(value_of(unit, name))) {
      reach.bound_.push_back(std::move(folder));
    }
  }
  return reach;
}

std::optional<std::string> UnitReach::seen_from(const std::string& path) const {
  const auto holds = [&](const std::string& folder) { return is_below(path, folder); };
  const std::array<std::string, 3> hidden = {"/home", "/root", "/run/user"};
  const bool hides = protect_home_ == "yes" || protect_home_ == "tmpfs";
  if (!hides || std::none_of(hidden.begin(), hidden.end(), holds)) return "";
  const auto bound = std::find_if(bound_.begin(), bound_.end(), holds);
  if (protect_home_ == "yes" || bound == bound_.end()) return std::nullopt;
  return *bound;
}

std::string UnitReach::trouble_with(const std::string& path, int mode) const {
  if (::access(path.c_str(), F_OK) != 0) return {};
  const auto base = seen_from(path);
  if (!base) return "the service cannot see it (ProtectHome=" + protect_home_ + " of its unit)";
  const UniqueFd folder(::open((*base + "/").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  int ends[2] = {-1, -1};
  if (!folder.valid() || ::pipe2(ends, O_CLOEXEC) != 0) return {};
  const UniqueFd in(ends[0]);
  UniqueFd out(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    const Refusal refusal = try_as(user_, groups_, folder.get(), *base, path, mode);
    ::_exit(write_all(out.get(), &refusal, sizeof refusal) ? 0 : 1);
  }
  out.reset();
  if (child < 0) return {};
  Refusal refusal;
  const bool told = read_exact(in.get(), &refusal, sizeof refusal);
  ::waitpid(child, nullptr, 0);
  if (!told || refusal.error == 0) return {};
  return "the account '" + account_ + "' of the service cannot use " +
         path.substr(0, refusal.length) + ": " + std::strerror(refusal.error);
}

}  // namespace allot::worker
