// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace allot::support {

// All blocks of `language` in a document ("```cpp"), in their order.
std::vector<std::string> examples(const std::string& path, const std::string& language);

// The first of them; empty when it has none.
std::string first_example(const std::string& path, const std::string& language);

}  // namespace allot::support
