// SPDX-License-Identifier: Apache-2.0
#include "support/document.h"

#include "support/temp_dir.h"

namespace allot::support {

std::string first_example(const std::string& path, const std::string& language) {
  const std::string text = read_file(path);
  const std::string fence = "```" + language + "\n";
  const auto begin = text.find(fence);
  if (begin == std::string::npos) return {};
  return text.substr(begin + fence.size(), text.find("\n```", begin) - begin - fence.size() + 1);
}

}  // namespace allot::support
