// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace allot::side {

// Notes of a handler of the plugin "side" about itself.
struct Line {
  bool begins = false;
  std::string name;
  pid_t pid = 0;
  unsigned attempt = 0;
};

inline std::vector<Line> read_lines(const std::string& output) {
  std::vector<Line> all;
  std::ifstream file(output);
  std::string verb;
  for (Line line; file >> verb >> line.name >> line.pid >> line.attempt;) {
    line.begins = verb == "begin";
    all.push_back(line);
  }
  return all;
}

inline std::size_t begun(const std::vector<Line>& lines) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [](const Line& line) { return line.begins; }));
}

// Largest number that ran at once in one process, with names that begin with `prefix`; from line
// `from` on.
inline std::size_t overlap(const std::vector<Line>& lines, const std::string& prefix = {},
                           std::size_t from = 0) {
  std::map<pid_t, std::set<std::string>> running;
  std::size_t most = 0;
  for (std::size_t i = from; i < lines.size(); ++i) {
    if (!lines[i].name.starts_with(prefix)) continue;
    auto& here = running[lines[i].pid];
    if (lines[i].begins) {
      here.insert(lines[i].name);
    } else {
      here.erase(lines[i].name);
    }
    most = std::max(most, here.size());
  }
  return most;
}

// How many ran by themselves before the first two ran at once.
inline std::size_t alone_at_first(const std::vector<Line>& lines) {
  std::size_t i = 0;
  while (i + 1 < lines.size() && lines[i].begins && !lines[i + 1].begins) i += 2;
  return i / 2;
}

}  // namespace allot::side
