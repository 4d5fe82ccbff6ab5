// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace allot::support {

// A new folder below $TMPDIR (or /tmp when that is unset or too long for a unix socket's path),
// removed with all that is in it.
class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  [[nodiscard]] const std::string& path() const { return path_; }
  // The path of `name` in here.
  [[nodiscard]] std::string operator/(std::string_view name) const;
  // Writes a file and returns its path.
  [[nodiscard]] std::string write(std::string_view name, std::string_view content) const;

 private:
  std::string path_;
};

// Removes a folder when this process dies without doing so: a database of 200 MB would stay behind
// after each test that crashed or ran over its time.
class Janitor {
 public:
  explicit Janitor(const std::string& folder);
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  ~Janitor();

 private:
  UniqueFd alive_;  // its other end is at EOF when we are gone
  pid_t pid_ = -1;
};

// All of a file; empty when it cannot be read.
std::string read_file(const std::string& path);
// Its lines, without their ends.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace allot::support
