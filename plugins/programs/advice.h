// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <string>
#include <vector>

// Words on what a section of a plugin must not have, like those on the rest of the configuration.
namespace programs {

// Of a key that is not among `known`, with the nearest one of them, or with all.
[[nodiscard]] std::string unknown_key(const std::string& name,
                                      const std::vector<std::string>& known);

// The same in the section of `type` in [GROUP]. TOML reads [GROUP.mail.send] as a table `send` in
// the section of the type `mail`.
[[nodiscard]] std::string unknown_in_type(const std::string& group, const std::string& type,
                                          const allot::Config& section, const std::string& name,
                                          const std::vector<std::string>& known);

}  // namespace programs
