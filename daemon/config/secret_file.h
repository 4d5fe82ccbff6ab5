// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace allot::config {

// Warning about a file with a secret that users outside its account and group may read: the file,
// its mode and the command that fixes it. Empty: none. Every reader of a secret file calls this. A
// group may read it, because packages install such files as root:allot 0640.
[[nodiscard]] std::string shared_secret(const std::string& what, const std::string& file);

// Keys of a plugin are unknown here, so a key with the name of a secret counts as one.
[[nodiscard]] bool names_a_secret(std::string_view key);

}  // namespace allot::config
