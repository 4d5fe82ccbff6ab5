// SPDX-License-Identifier: Apache-2.0
#include "support/document.h"

#include "support/temp_dir.h"

namespace allot::support {

std::vector<std::string> examples(const std::string& path, const std::string& language) {
  const std::string text = read_file(path);
  const std::string fence = "```" + language + "\n";
  std::vector<std::string> blocks;
  for (std::size_t at = 0; (at = text.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    const std::size_t end = text.find("\n```", at);
    blocks.push_back(text.substr(at, end - at + 1));
    at = end;
  }
  return blocks;
}

std::string first_example(const std::string& path, const std::string& language) {
  const auto blocks = examples(path, language);
  return blocks.empty() ? std::string() : blocks.front();
}

}  // namespace allot::support
