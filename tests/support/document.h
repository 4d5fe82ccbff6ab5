// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace allot::support {

// All blocks of `language` in a document ("```cpp"), without their fences.
std::vector<std::string> examples(const std::string& path, const std::string& language);

// The first of them; empty when there is none.
std::string first_example(const std::string& path, const std::string& language);

}  // namespace allot::support
