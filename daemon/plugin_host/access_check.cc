// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/access_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace allot::plugin_host {
namespace {

namespace fs = std::filesystem;

bool is_foreign(const Access& place, uid_t self) {
  return place.owner != 0 && place.owner != self;
}

bool is_world_writable(const Access& place) {
  return (place.mode & S_IWOTH) != 0;
}

std::string whose(const Access& place, uid_t self) {
  return "uid " + std::to_string(place.owner) + ", not to root" +
         (self == 0 ? std::string() : " or uid " + std::to_string(self) + " who runs this");
}

// Returns an Access that fails every check if the path is gone by now.
Access look_at(const fs::path& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return {path.string(), 0, S_IWOTH};
  return {path.string(), status.st_uid, status.st_mode};
}

void add_way(const fs::path& folder, Way& way) {
  way.holders.push_back(look_at(folder));
  for (fs::path above = folder; above.has_relative_path();) {
    above = above.parent_path();
    way.above.push_back(look_at(above));
  }
}

}  // namespace

std::optional<Finding> check_access(const Access& file, const Way& way, uid_t self) {
  if (is_foreign(file, self)) {
    return Finding{Refusal::kFileOwner,
                   "it belongs to " + whose(file, self) + "; chown root " + file.path};
  }
  if (is_world_writable(file)) {
    return Finding{Refusal::kWritableFile, "anybody may change it; chmod o-w " + file.path};
  }
  for (const Access& folder : way.holders) {
    if (is_foreign(folder, self)) {
      return Finding{Refusal::kFolderOwner, "the folder " + folder.path + " belongs to " +
                                                whose(folder, self) + "; chown root " +
                                                folder.path};
    }
    // The sticky bit does not help here: everybody could add plugins.
    if (is_world_writable(folder)) {
      return Finding{Refusal::kWritableFolder, "anybody may put files into the folder " +
                                                   folder.path + "; chmod o-w " + folder.path};
    }
  }
  for (const Access& folder : way.above) {
    if (is_world_writable(folder) && (folder.mode & S_ISVTX) == 0) {
      return Finding{Refusal::kWritableFolder, "anybody may replace what is in the folder " +
                                                   folder.path + " above it; chmod o-w " +
                                                   folder.path};
    }
  }
  return std::nullopt;
}

std::variant<std::string, Finding> trusted_file(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || !fs::is_regular_file(real, error)) {
    return Finding{Refusal::kNotAFile, (error ? error.message() : "not a regular file") +
                                           "; a plugin is a shared object"};
  }
  Way way;
  add_way(real.parent_path(), way);
  const fs::path folder = fs::canonical(fs::absolute(path).parent_path(), error);
  if (folder != real.parent_path()) add_way(folder, way);
  if (auto finding = check_access(look_at(real), way, ::geteuid())) return *finding;
  return real.string();
}

}  // namespace allot::plugin_host
