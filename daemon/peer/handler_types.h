// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The file `types` in the runtime folder: the types of this instance's handlers, one type or prefix
// ("mail.*") for each line, below a line with its version. The check of a configuration writes it,
// because it has described the plugins; submitters read it, because they must not open plugins. It
// is for messages only: without it a submitter prints no warning.
namespace allot::peer {

// Replaces the file as a whole. False: it is unchanged.
bool write_types(const std::string& folder, const std::vector<std::string>& types);

// nullopt: it is missing or unreadable.
std::optional<std::vector<std::string>> read_types(const std::string& folder);

// True if one of `types` is that type, or a prefix of it.
bool takes(const std::vector<std::string>& types, std::string_view type);

}  // namespace allot::peer
