// SPDX-License-Identifier: Apache-2.0
#include "worker/run/log_tail.h"

#include <new>
#include <utility>

namespace allot::worker {

// A line that is too long keeps its beginning.
void LogTail::add(std::string_view level, std::string_view text) noexcept {
  try {
    std::string line(level);
    line.append(1, ' ').append(text.substr(0, kMostBytes - level.size() - 2)).append(1, '\n');
    const MutexLock held(mutex_);
    bytes_ += line.size();
    lines_.push_back(std::move(line));
    while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
      bytes_ -= lines_.front().size();
      lines_.pop_front();
    }
  } catch (const std::bad_alloc&) {
  }
}

std::string LogTail::text() const {
  const MutexLock held(mutex_);
  std::string all;
  all.reserve(bytes_);
  for (const std::string& line : lines_) all += line;
  return all;
}

}  // namespace allot::worker
