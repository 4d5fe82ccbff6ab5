// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.h"
#include "thread/mutex.h"

namespace allot::db {

// Memory of a host about the servers of one list (S52): the highest term of any of them, and which
// of them did not answer in the last seconds. The processes of a host share it through small files
// in the instance's runtime folder. Any thread may call every function. No function fails: values
// that cannot be written are remembered by this process only.
class TermMemory {
 public:
  // `folder` empty: this process only. `list` names the servers and the database.
  TermMemory() = default;
  TermMemory(std::string folder, const std::string& list);

  // 0: no term seen.
  [[nodiscard]] std::uint64_t highest() ALLOT_EXCLUDES(mutex_);
  void saw(std::uint64_t term) ALLOT_EXCLUDES(mutex_);

  // A server that did not answer is tried again after this time, or if no other one can be used.
  static constexpr Nanos kSpared = 10 * kSecond;
  [[nodiscard]] bool is_silent(const std::string& where) ALLOT_EXCLUDES(mutex_);
  void found_silent(const std::string& where) ALLOT_EXCLUDES(mutex_);
  void found_answering(const std::string& where) ALLOT_EXCLUDES(mutex_);

 private:
  [[nodiscard]] std::string silent_file(const std::string& where) const;

  const std::string folder_;
  const std::string term_file_;
  Mutex mutex_;
  std::uint64_t highest_ ALLOT_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Nanos> silent_until_ ALLOT_GUARDED_BY(mutex_);  // CLOCK_BOOTTIME
};

}  // namespace allot::db
