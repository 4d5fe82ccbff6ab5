// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "thread/mutex.h"

namespace allot::worker {

// The last lines that a handler logged, for the record of a failed attempt (S81). The threads of
// the handler add lines; the thread that runs the task reads them. Never throws: a line without
// memory is left out.
class LogTail {
 public:
  static constexpr std::size_t kMostLines = 64;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 10;

  void add(std::string_view level, std::string_view text) noexcept;
  // "warn the logged text\n", line by line.
  [[nodiscard]] std::string text() const;

 private:
  mutable Mutex mutex_;
  std::deque<std::string> lines_ ALLOT_GUARDED_BY(mutex_);
  std::size_t bytes_ ALLOT_GUARDED_BY(mutex_) = 0;
};

}  // namespace allot::worker
