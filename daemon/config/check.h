// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Fills in computed values (default queue and pool, queues of pools, the account of the embedded
// database, the password from its file) and checks rules that involve several keys.
void complete(Settings& settings, Problems& problems);

// Checks and completes one section with the keys of [database]: servers, the password from its
// file, the account of the embedded database. complete() calls it for each such section; `section`
// is "database", or the name in the header.
void check_database(Settings& settings, Database& database, const std::string& section,
                    Problems& problems);

// Reads a password from its own file, without the line break at the end. Returns 0 or an errno.
[[nodiscard]] int read_password(Settings& settings, const std::string& file, std::string& password);

// Checks and completes [gateway] and its sections, if they exist; refuses settings that would admit
// unintended clients. complete() calls it when [database] is complete.
void check_gateway(Settings& settings, Problems& problems);

// Base of the classes that check sections. A path is one of Lines: "pools.mail.size".
class Check {
 protected:
  Check(Settings& settings, Problems& problems) : settings_(settings), problems_(problems) {}

  // Whether the file has this key or section.
  [[nodiscard]] bool has(const std::string& path) const { return settings_.lines.contains(path); }
  void problem(const std::string& path, std::string text) {
    problems_.push_back({line_of(settings_, path), std::move(text)});
  }
  void warn(const std::string& path, const std::string& text) {
    settings_.warnings.push_back(settings_.file + ":" + std::to_string(line_of(settings_, path)) +
                                 ": " + text);
  }

  Settings& settings_;
  Problems& problems_;
};

}  // namespace allot::config
