// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

// Whether another account could change what a path leads to (S72): asked of the folder of a private
// database, of the runtime folder, and of plugins. Root is trusted, and so is this process's
// account. A group that may write is trusted, because /usr/local and a user's own folders often
// have one, but not with folders that are made for one account.
namespace allot::trust {

enum class Role {
  kFile,           // the file itself
  kPrivateFolder,  // a folder of this account, into which no other may look
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

// The path with all links resolved, when everything on the way to it is trusted. `role` is that of
// its last part: kFile, kOwnFolder or kPrivateFolder. Such a folder may not be a link itself. What
// is returned can be opened by its name, because nobody else can change what stands there.
std::variant<std::string, Flaw> resolve(const std::string& path, Role role);

// Makes the folder and those above it where they are missing: 0700, or 0750 for kOwnFolder. Throws
// Error when it cannot be made (kExitCannotCreate) or is not trusted (kExitConfig). `what` is the
// beginning of the message, such as "[daemon] runtime_dir".
void make_folder(const std::string& path, Role role, std::string_view what);
// The same check of a folder that may be missing, which makes nothing.
void require_folder(const std::string& path, Role role, std::string_view what);

}  // namespace allot::trust
