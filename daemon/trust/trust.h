// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Whether another account could change the target of a path (S72). Used for the folder of a private
// database, the runtime folder, and plugins. Root and the account of this process are trusted. A
// group with write permission is trusted, because /usr/local and users' own folders often have one,
// but not for folders that are made for one account.
namespace allot::trust {

enum class Role {
  kFile,           // the file itself
  kPrivateFolder,  // a folder of this account, closed to all others
  kOwnFolder,      // a folder in which only root and this account may make files
  kFolder,         // the folder of a file, or of a link to it
  kAbove,          // a folder above it, or above the target of a link
  kLink,           // a link on the way
};
enum class Fault { kMissing, kWrongKind, kOwner, kWritable, kOpen };

struct Flaw {
  Role role;
  Fault fault;
  std::string text;  // what is wrong, where, and how to fix it
};

// The result of lstat for a path.
struct Place {
  std::string path;
  uid_t owner = 0;
  mode_t mode = 0;
};

// Pure. `self` is the user of this process.
std::optional<Flaw> judge(const Place& place, Role role, uid_t self);

// The path with all links resolved, if everything on the way is trusted. `role` is the role of the
// last part: kFile, kOwnFolder or kPrivateFolder. Such a folder may not be a link itself. The
// result can be opened by its name, because no other account can replace it.
std::variant<std::string, Flaw> resolve(const std::string& path, Role role);

// Creates the folder and its missing parents: 0700, or 0750 for kOwnFolder. Throws Error when it
// cannot be created (kExitCannotCreate) or is not trusted (kExitConfig). `what` is the beginning of
// the message, such as "[daemon] runtime_dir".
void make_folder(const std::string& path, Role role, std::string_view what);
// The same check without creating anything; the folder may be missing.
void require_folder(const std::string& path, Role role, std::string_view what);

}  // namespace allot::trust
