// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace allot::config {

// The files that make a configuration: the one that was named, and those that it names for their
// contents, such as that of the password. They are read from the disk, or from the copy of a daemon
// that checked them: what was checked last is what its processes run, whatever the disk has by then
// (S26).
class Files {
 public:
  Files() = default;
  // The copy that keep() wrote. Throws Error(kExitConfig) when it is none.
  explicit Files(int copy);

  // Whether a descriptor is such a copy, or, with `kept` false, a place for one. It may as well be
  // another file of somebody who started this program.
  static bool is_copy(int fd, bool kept = true);

  // Reads a file of that name, once. Returns 0 or an errno.
  int read(const std::string& path, std::string& text);
  // Writes all that was read into an anonymous file, which nobody can change afterwards. Throws
  // Error(kExitSoftware).
  void keep(int copy) const;
  // A number that differs when anything that was read does, wherever that was read from.
  [[nodiscard]] std::uint64_t mark() const;
  // A number for the path of the file that was named.
  [[nodiscard]] std::uint64_t place() const;

  [[nodiscard]] bool copied() const { return copied_; }

  std::string first;  // the file that was named; empty: none
  std::string named;  // who named it

 private:
  [[nodiscard]] std::string packed() const;

  bool copied_ = false;
  std::map<std::string, std::string> texts_;
};

}  // namespace allot::config
