// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "base/unique_fd.h"

namespace allot::supervisor {

// What one image of allotd leaves to the next over exec (USR2, S25), in an anonymous file. Each
// class lists its members once, in pass(), which writes them or reads them. A change of that list
// or of what is in it is a new kStateVersion (handover.cc).
class Handover {
 public:
  enum class Way { kWrite, kRead };
  // Begins with who may read it, or looks whether we may.
  Handover(int fd, Way way);

  // Plain values, and descriptors, which stay open over exec under their numbers.
  template <class... Values>
  void operator()(Values&... values) {
    (one(values), ...);
  }

  // At the end: all was written; or all was read, and that was all. False was logged.
  [[nodiscard]] bool whole() const;

 private:
  template <class T>
  void one(T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    bytes(&value, sizeof value);
  }
  void one(UniqueFd& fd);
  void bytes(void* data, std::size_t size);

  int fd_;
  bool reading_;
  bool good_;
  char ours_[64] = {};  // what has to agree, in words
  char theirs_[64] = {};
};

}  // namespace allot::supervisor
