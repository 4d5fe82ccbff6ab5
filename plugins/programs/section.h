// SPDX-License-Identifier: Apache-2.0
// Rule: S80.
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/process.h"

namespace programs {

// "300ms", "30s", "5m", "2h", "7d"; nullopt: another format.
[[nodiscard]] std::optional<std::chrono::milliseconds> duration_of(std::string_view text);

// The keys of a program's section: those that Section::program() reads, and others.
[[nodiscard]] std::vector<std::string> program_keys_and(std::initializer_list<std::string> others);

// The section [GROUP.NAME], or [GROUP] without a name. Every error is a std::invalid_argument that
// names the section and the permitted values.
class Section {
 public:
  Section(std::string group, std::string name, const allot::Config& config);

  // Refuses a key that is not in `known`.
  void refuse_unknown(const std::vector<std::string>& known) const;
  // Its `command`, `directory`, `environment` and `inherit`. Variables must not begin with
  // `reserved`.
  [[nodiscard]] Program program(const std::string& reserved) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(const char* key) const;
  [[nodiscard]] const allot::Config& config() const { return section_; }
  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[noreturn]] void fail(const std::string& text) const;

 private:
  [[nodiscard]] std::vector<std::string> environment(const std::string& reserved) const;

  std::string group_;  // "plugins.pipe.types"
  std::string name_;
  allot::Config section_;
};

// The sections in [plugins.PLUGIN.GROUP] for each of `groups`. Throws std::invalid_argument for any
// other key of [plugins.PLUGIN].
[[nodiscard]] std::vector<Section> sections_of(const std::string& plugin,
                                               const std::vector<std::string>& groups,
                                               const allot::Config& config);

// The value for a type in a map by types and prefixes such as "shop.*": its exact name, else the
// longest prefix. nullptr: no match.
template <typename Map>
[[nodiscard]] auto* find_by_type(Map& by_type, std::string_view type) {
  auto found = by_type.find(std::string(type));
  for (std::size_t dot = type.size(); found == by_type.end() && dot > 0;) {
    dot = type.rfind('.', dot - 1);
    if (dot == std::string_view::npos) break;
    found = by_type.find(std::string(type.substr(0, dot + 1)) + "*");
  }
  return found == by_type.end() ? nullptr : &found->second;
}

}  // namespace programs
