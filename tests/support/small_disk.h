// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/unique_fd.h"
#include "support/temp_dir.h"

namespace allot::support {

// A tmpfs of `bytes` bytes, to be filled up. It is mounted in the mount namespace of a separate
// process, which needs root or a user namespace, and reached through /proc. It ends with this
// object, and with a test that dies.
class SmallDisk {
 public:
  explicit SmallDisk(std::size_t bytes);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk();

  // Reason why it is unavailable, or empty.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  // The path of `name` on it.
  [[nodiscard]] std::string operator/(const std::string& name) const;
  // Leaves this number of bytes free, even during writes by other processes.
  void leave(std::size_t bytes) const;

 private:
  [[noreturn]] void fail(int error) const;

  TempDir mount_point_;
  UniqueFd alive_;  // its other end reads EOF when this process is gone
  pid_t pid_ = -1;
  std::string root_;
  std::string trouble_;
};

}  // namespace allot::support
