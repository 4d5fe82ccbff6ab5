// SPDX-License-Identifier: Apache-2.0
#include "peer/folders.h"

#include <sys/stat.h>

#include <cerrno>
#include <climits>
#include <cstdio>

namespace allot::peer {

bool make_folders(const char* path, unsigned mode) {
  char buffer[PATH_MAX];
  const int length = std::snprintf(buffer, sizeof buffer, "%s", path);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof buffer) {
    errno = ENAMETOOLONG;
    return false;
  }
  for (char* at = buffer + 1;; ++at) {
    if (*at != '/' && *at != '\0') continue;
    const char kept = *at;
    *at = '\0';
    if (::mkdir(buffer, mode) != 0 && errno != EEXIST) return false;
    *at = kept;
    if (kept == '\0') return true;
  }
}

}  // namespace allot::peer
