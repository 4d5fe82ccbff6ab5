// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace allot::config {

// What to say of a file with a secret that others than its account and group may use: which file,
// its mode and the command that changes it. Empty: nothing. Whatever reads a secret from a file
// asks here. A group may read it, as packages leave such files: root:allot 0640.
[[nodiscard]] std::string shared_secret(const std::string& what, const std::string& file);

// A plugin's keys are its own, so a key with the name of a secret counts as one.
[[nodiscard]] bool names_a_secret(std::string_view key);

}  // namespace allot::config
