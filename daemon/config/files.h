// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace allot::config {

// Files of a configuration: the named one, and those whose contents it includes, such as the
// password file. They are read from disk, or from the copy of a daemon that checked them: its
// processes run exactly the checked configuration, even if the disk has changed (S26).
class Files {
 public:
  Files() = default;
  // Reads the copy that keep() wrote. Throws Error(kExitConfig) if it is invalid.
  explicit Files(int copy);

  // True if a descriptor is such a copy or, with `kept` false, a place for one. It may also be an
  // unrelated file of the caller that started this program.
  static bool is_copy(int fd, bool kept = true);

  // Reads a file of that name, once. Returns 0 or an errno.
  int read(const std::string& path, std::string& text);
  // Writes everything that was read into an anonymous, sealed file. Throws Error(kExitSoftware).
  void keep(int copy) const;
  // Checksum of all contents that were read, independent of the source.
  [[nodiscard]] std::uint64_t mark() const;
  // Checksum of the path of the named file.
  [[nodiscard]] std::uint64_t place() const;

  [[nodiscard]] bool copied() const { return copied_; }

  std::string first;  // the file that was named; empty: none
  std::string named;  // source of the name

 private:
  [[nodiscard]] std::string packed() const;

  bool copied_ = false;
  std::map<std::string, std::string> texts_;
};

}  // namespace allot::config
