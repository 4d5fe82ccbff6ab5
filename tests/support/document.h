// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace allot::support {

// The first block of `language` in a document ("```cpp"); empty when it has none.
std::string first_example(const std::string& path, const std::string& language);

}  // namespace allot::support
