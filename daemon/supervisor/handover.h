// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "base/unique_fd.h"

namespace allot::supervisor {

// State that one image of allotd leaves to the next over exec (USR2, S25), in an anonymous file.
// Each class lists its members once, in pass(), for writing and for reading. A change of such a
// list or of its types needs a new kStateVersion (handover.cc).
class Handover {
 public:
  enum class Way { kWrite, kRead };
  // Writes first which image may read it, or checks whether this one may.
  Handover(int fd, Way way);

  // Takes plain values, and descriptors, which stay open over exec under their numbers.
  template <class... Values>
  void operator()(Values&... values) {
    (one(values), ...);
  }

  // Call it at the end. True: all was written, or all was read and nothing is left. A failure was
  // logged.
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
  bool reading_, good_;
  char ours_[64] = {}, theirs_[64] = {};  // a text that both images have to agree on
};

}  // namespace allot::supervisor
