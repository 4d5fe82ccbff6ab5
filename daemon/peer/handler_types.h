// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The file `types` in the runtime folder: what the handlers of this instance take, one type or
// prefix ("mail.*") for each line, below a line with its version. The check of a configuration
// writes it, because it has described the plugins; submitters read it, because they must not open
// any. It is for messages only: a submitter that cannot read it says nothing.
namespace allot::peer {

// Replaces the file as a whole. False: it is as it was.
bool write_types(const std::string& folder, const std::vector<std::string>& types);

// nullopt: there is none, or it cannot be read or understood.
std::optional<std::vector<std::string>> read_types(const std::string& folder);

// True when one of `types` is that type, or a prefix of it.
bool takes(const std::vector<std::string>& types, std::string_view type);

}  // namespace allot::peer
