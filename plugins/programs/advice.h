// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <string>
#include <vector>

// Messages about unknown keys in a plugin's section, in the style of the other configuration
// messages.
namespace programs {

// Reports a key that is not among `known`, with the nearest known key, or with all.
[[nodiscard]] std::string unknown_key(const std::string& name,
                                      const std::vector<std::string>& known);

// Reports it in the section of `type` in [GROUP]. TOML reads [GROUP.mail.send] as a table `send` in
// the section of the type `mail`.
[[nodiscard]] std::string unknown_in_type(const std::string& group, const std::string& type,
                                          const allot::Config& section, const std::string& name,
                                          const std::vector<std::string>& known);

}  // namespace programs
