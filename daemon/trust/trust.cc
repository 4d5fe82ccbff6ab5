// SPDX-License-Identifier: Apache-2.0
#include "trust/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>

#include "base/error.h"
#include "base/mutant.h"

namespace allot::trust {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // the limit of the kernel

std::string mode_text(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777U));
  return text;
}

// Name of the place in a message.
std::string name_of(const Place& place, Role role) {
  switch (role) {
    case Role::kFile:
      return "it";
    case Role::kLink:
      return "the link " + place.path;
    case Role::kAbove:
      return "the folder " + place.path + " above it";
    case Role::kPrivateFolder:
    case Role::kOwnFolder:
    case Role::kFolder:
      break;
  }
  return "the folder " + place.path;
}

std::string whose(const Place& place, Role role, uid_t self) {
  const std::string own = "uid " + std::to_string(self) + " who runs this";
  const std::string owner = "uid " + std::to_string(place.owner) + ", not to ";
  if (role == Role::kPrivateFolder) return owner + own;
  return owner + "root" + (self == 0 ? std::string() : " or " + own);
}

// A private folder of another account may hold that account's files, so the fix is not a change of
// owner.
std::string owner_fix(const Place& place, Role role) {
  if (role == Role::kPrivateFolder) return "run this as that account";
  return std::string(role == Role::kLink ? "chown -h root " : "chown root ") + place.path;
}

std::string writable_text(const Place& place, Role role) {
  if (role == Role::kFile) return "every account may change it";
  return (role == Role::kAbove ? "every account may replace files in "
                               : "every account may put files into ") +
         name_of(place, role);
}

void put_in_front(std::deque<std::string>& rest, const fs::path& path) {
  std::deque<std::string> parts;
  for (const fs::path& part : path.relative_path()) {
    if (!part.empty() && part != ".") parts.push_back(part.string());
  }
  rest.insert(rest.begin(), parts.begin(), parts.end());
}

// S72: walks from / to the end of a path and judges each folder and each link on the way.
class Walk {
 public:
  Walk(const std::string& path, Role role) : role_(role) {
    put_in_front(rest_, fs::absolute(path));
  }

  std::variant<std::string, Flaw> go() {
    std::optional<Flaw> flaw = arrive("/");
    while (!flaw && !rest_.empty()) {
      const std::string name = rest_.front();
      rest_.pop_front();
      flaw = name == ".." ? arrive(at_.parent_path()) : step(at_ / name);
    }
    if (flaw) return *flaw;
    return at_.string();
  }

 private:
  [[nodiscard]] Role role_here() const {
    if (rest_.empty()) return role_;
    return rest_.size() == 1 && role_ == Role::kFile ? Role::kFolder : Role::kAbove;
  }

  std::optional<Flaw> arrive(const fs::path& path) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0) return missing();
    at_ = path;
    return judge({path.string(), status.st_uid, status.st_mode}, role_here(), ::geteuid());
  }

  std::optional<Flaw> step(const fs::path& path) {
    struct stat status = {};
    if (::lstat(path.c_str(), &status) != 0) return missing();
    if (!S_ISLNK(status.st_mode)) return arrive(path);
    if (rest_.empty() && role_ != Role::kFile) {
      return Flaw{role_, Fault::kWrongKind, path.string() + " is a link; name the folder itself"};
    }
    const Place link{path.string(), status.st_uid, status.st_mode};
    if (auto flaw = judge(link, Role::kLink, ::geteuid())) return flaw;
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error || ++links_ > kMostLinks) {
      errno = error ? error.value() : ELOOP;
      return missing();
    }
    put_in_front(rest_, target);
    return target.is_absolute() ? arrive("/") : arrive(at_);
  }

  [[nodiscard]] Flaw missing() const {
    const Fault fault = errno == ENOENT ? Fault::kMissing : Fault::kWrongKind;
    return {role_here(), fault, std::strerror(errno)};
  }

  Role role_;
  fs::path at_;
  std::deque<std::string> rest_;
  int links_ = 0;
};

bool make_all(const fs::path& path, mode_t mode) {
  fs::path at = "/";
  for (const fs::path& part : fs::absolute(path).relative_path()) {
    if (part.empty()) continue;
    at /= part;
    if (::mkdir(at.c_str(), mode) != 0 && errno != EEXIST) return false;
  }
  return true;
}

}  // namespace

std::optional<Flaw> judge(const Place& place, Role role, uid_t self) {
  const bool is_private = role == Role::kPrivateFolder;
  const bool is_ours = place.owner == self || (place.owner == 0 && !is_private);
  if (!is_ours) {
    return Flaw{role, Fault::kOwner,
                name_of(place, role) + " belongs to " + whose(place, role, self) + "; " +
                    owner_fix(place, role)};
  }
  if (role == Role::kLink) return std::nullopt;
  if (role == Role::kFile ? !S_ISREG(place.mode) : !S_ISDIR(place.mode)) {
    return Flaw{role, Fault::kWrongKind,
                role == Role::kFile ? "not a regular file" : place.path + " is not a folder"};
  }
  if (is_private && (place.mode & 0077U) != 0) {
    return Flaw{role, Fault::kOpen,
                name_of(place, role) + " is open to other accounts (mode " + mode_text(place.mode) +
                    "); chmod 0700 " + place.path};
  }
  // Higher up, the sticky bit is enough: another account cannot rename foreign entries. A folder
  // from which files are taken must not be open at all, because any account could add files.
  const bool is_open = (place.mode & S_IWOTH) != 0 && !mutant::removed("open_folder");
  if (is_open && (role != Role::kAbove || (place.mode & S_ISVTX) == 0)) {
    return Flaw{role, Fault::kWritable, writable_text(place, role) + "; chmod o-w " + place.path};
  }
  if (role == Role::kOwnFolder && (place.mode & S_IWGRP) != 0) {
    return Flaw{role, Fault::kWritable,
                "a group may put files into " + name_of(place, role) + "; chmod g-w " + place.path};
  }
  return std::nullopt;
}

std::variant<std::string, Flaw> resolve(const std::string& path, Role role) {
  return Walk(path, role).go();
}

void require_folder(const std::string& path, Role role, std::string_view what) {
  const auto found = Walk(path, role).go();
  const auto* const flaw = std::get_if<Flaw>(&found);
  if (flaw != nullptr && flaw->fault != Fault::kMissing) {
    throw Error(std::string(what) + " = " + path + " is not safe: " + flaw->text +
                    ", or name another folder",
                kExitConfig);
  }
}

// The existing part is judged first, or another account's link could choose where folders are made.
// The result is judged again, because in a shared folder another account may have been faster.
void make_folder(const std::string& path, Role role, std::string_view what) {
  require_folder(path, role, what);
  if (!make_all(path, role == Role::kPrivateFolder ? 0700 : 0750)) {
    throw Error(std::string(what) + " = " + path + " cannot be created: " + std::strerror(errno) +
                    "; name another folder",
                kExitCannotCreate);
  }
  require_folder(path, role, what);
}

}  // namespace allot::trust
