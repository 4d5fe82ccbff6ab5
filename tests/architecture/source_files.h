// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace allot::architecture {

struct SourceFile {
  std::string path;  // relative to the repository, e.g. "daemon/db/error.cc"
  std::vector<std::string> lines;

  [[nodiscard]] bool is_header() const { return path.ends_with(".h") || path.ends_with(".hpp"); }
  [[nodiscard]] bool in(std::string_view folder) const { return path.starts_with(folder); }
  // "daemon/db/error.cc:7: "
  [[nodiscard]] std::string at(std::size_t line) const;
};

// Creates a made-up file, for the tests of a rule.
SourceFile made_up(std::string path, std::string_view text);

// All C and C++ sources below the named folders, sorted by path. Throws if there are none, because
// a rule without input would always hold.
std::vector<SourceFile> sources_below(const std::vector<std::string>& folders);

// Text of a file of the repository.
std::string text_of(const std::string& path);

// The same lines without comments and without the content of string literals.
std::vector<std::string> code_of(const SourceFile& file);
// The string literals of a line, without comments.
std::vector<std::string> literals_of(const std::string& line);

// The findings, one per line, for a message.
std::string joined(const std::vector<std::string>& findings);

}  // namespace allot::architecture
