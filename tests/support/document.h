// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace allot::support {

// All blocks of `language` in a document ("```cpp"), without their fences.
std::vector<std::string> examples(const std::string& path, const std::string& language);

// The first of them; empty if there is none.
std::string first_example(const std::string& path, const std::string& language);

// The statements of sql/grants/ROLE.sql for another database.
std::vector<std::string> grants(const std::string& role, const std::string& database);

}  // namespace allot::support
