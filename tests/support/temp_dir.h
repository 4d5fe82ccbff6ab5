// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"

namespace allot::support {

// A new folder below $TMPDIR (or /tmp if that is unset or too long for the path of a unix socket),
// removed with its contents.
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

// Removes a folder if this process dies without doing so: otherwise a database of 200 MB would
// remain after each test that crashed or exceeded its time.
class Janitor {
 public:
  explicit Janitor(const std::string& folder);
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;
  ~Janitor();

 private:
  UniqueFd alive_;  // its other end reads EOF when this process is gone
  pid_t pid_ = -1;
};

// Contents of a file; empty if it cannot be read.
std::string read_file(const std::string& path);
// Lines of a file, without line ends.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace allot::support
