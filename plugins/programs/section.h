// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <allot/plugin.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/process.h"

namespace programs {

// "300ms", "30s", "5m", "2h", "7d"; nullopt: it is none of these.
[[nodiscard]] std::optional<std::chrono::milliseconds> duration_of(std::string_view text);

// The section [plugins.PLUGIN.types.TYPE], for a type that a program runs. Every failure names
// the section, and is a std::invalid_argument that says what is allowed.
class Section {
 public:
  Section(const std::string& plugin, const std::string& type, const allot::Config& types);

  // Refuses a key that is not among `known` nor of the program.
  void refuse_unknown(const std::vector<std::string>& known) const;
  // Its `command`, `directory`, `environment` and `inherit`. No variable may begin with `reserved`.
  [[nodiscard]] Program program(const std::string& reserved) const;
  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(const char* key) const;
  [[nodiscard]] const allot::Config& config() const { return section_; }
  [[noreturn]] void fail(const std::string& text) const;

 private:
  [[nodiscard]] std::vector<std::string> environment(const std::string& reserved) const;

  std::string group_;
  std::string type_;
  allot::Config section_;
};

// The section of each type. Refuses a key beside [plugins.PLUGIN.types].
[[nodiscard]] std::vector<std::string> types_of(const std::string& plugin,
                                                const allot::Config& config);

}  // namespace programs
