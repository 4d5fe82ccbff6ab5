// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "log/log.h"
#include "support/temp_dir.h"

namespace allot::log {

// A folder for a log file.
class Line : public testing::Test {
 protected:
  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() override { setup("test", Level::kInfo); }

  [[nodiscard]] std::string path() const { return folder_ / "allot.log"; }
  static std::vector<std::string> lines(const std::string& path) {
    return support::read_lines(path);
  }
  [[nodiscard]] std::vector<std::string> lines() const { return lines(path()); }

 private:
  support::TempDir folder_;
};

// Counts the lines of each writer. Every line must be whole: the time, the head, `size` times 'x'.
inline std::map<char, int> whole_lines(const std::vector<std::string>& lines, std::size_t size) {
  constexpr std::size_t kTime = 25;
  const std::string head = "INFO  worker burst w=";
  const std::string tail = " text=" + std::string(size, 'x');
  std::map<char, int> count;
  for (const std::string& line : lines) {
    const bool whole = line.size() == kTime + head.size() + 1 + tail.size() &&
                       line.compare(kTime, head.size(), head) == 0 &&
                       line.compare(line.size() - tail.size(), tail.size(), tail) == 0;
    if (!whole) {
      ADD_FAILURE() << "broken line: " << line.substr(0, 120);
      return count;
    }
    ++count[line[kTime + head.size()]];
  }
  return count;
}

inline void burst(int writer, int lines, std::size_t size) {
  const std::string text(size, 'x');
  for (int i = 0; i < lines; ++i) info("burst", {{"w", writer}, {"text", text}});
}

}  // namespace allot::log
