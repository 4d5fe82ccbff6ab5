// SPDX-License-Identifier: Apache-2.0
#include "support/document.h"

#include <sstream>

#include "support/temp_dir.h"

namespace allot::support {

std::vector<std::string> examples(const std::string& path, const std::string& language) {
  const std::string text = read_file(path);
  const std::string fence = "```" + language + "\n";
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    const std::size_t end = text.find("\n```", at);
    found.push_back(text.substr(at, end - at + 1));
    if (end == std::string::npos) break;
    at = end + 4;
  }
  return found;
}

std::string first_example(const std::string& path, const std::string& language) {
  const auto found = examples(path, language);
  return found.empty() ? "" : found.front();
}

std::vector<std::string> grants(const std::string& role, const std::string& database) {
  std::istringstream file(
      read_file(std::string(ALLOT_SOURCE_DIR) + "/sql/grants/" + role + ".sql"));
  std::vector<std::string> statements;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("--", 0) == 0) continue;
    if (const std::size_t at = line.find(" allot."); at != std::string::npos) {
      line.replace(at, 6, " " + database);
    }
    statements.push_back(line.substr(0, line.find(';')));
  }
  return statements;
}

}  // namespace allot::support
