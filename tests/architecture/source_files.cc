// SPDX-License-Identifier: Apache-2.0
#include "architecture/source_files.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "support/temp_dir.h"

namespace allot::architecture {
namespace {

const std::string kTop = ALLOT_SOURCE_FOLDER;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_source(const std::filesystem::path& path) {
  static const std::vector<std::string> kEndings{".h", ".hpp", ".c", ".cc", ".def"};
  return std::find(kEndings.begin(), kEndings.end(), path.extension()) != kEndings.end();
}

// Splits a line into code and literals. It supports the C++ of this code base: no raw strings over
// several lines, and /* */ comments only on separate lines.
struct Split {
  std::string code;
  std::vector<std::string> literals;
};

Split split(const std::string& line) {
  Split parts;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '/' && i + 1 < line.size() && line[i + 1] == '/') break;
    if (c != '"' && c != '\'') {
      parts.code += c;
      continue;
    }
    // Digit separator, as in 1'000.
    if (c == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(line[i - 1])) != 0) continue;
    std::string literal;
    for (++i; i < line.size() && line[i] != c; ++i) {
      if (line[i] == '\\' && i + 1 < line.size()) literal += line[i++];
      literal += line[i];
    }
    if (c == '"') parts.literals.push_back(literal);
    parts.code += "\"\"";
  }
  return parts;
}

}  // namespace

std::string SourceFile::at(std::size_t line) const {
  return path + ":" + std::to_string(line + 1) + ": ";
}

SourceFile made_up(std::string path, std::string_view text) {
  return {std::move(path), lines_of(text)};
}

std::vector<SourceFile> sources_below(const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    const std::size_t before = files.size();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kTop + "/" + folder)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string path = entry.path().lexically_relative(kTop).string();
      files.push_back({path, lines_of(text_of(path))});
    }
    if (files.size() == before) throw std::runtime_error("no source below " + folder);
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::string text_of(const std::string& path) {
  const std::string text = support::read_file(kTop + "/" + path);
  if (text.empty()) throw std::runtime_error("cannot read " + path);
  return text;
}

std::vector<std::string> code_of(const SourceFile& file) {
  std::vector<std::string> code;
  bool in_comment = false;
  for (const std::string& line : file.lines) {
    const bool starts = line.find("/*") != std::string::npos;
    in_comment = in_comment || starts;
    code.push_back(in_comment ? "" : split(line).code);
    if (in_comment && line.find("*/") != std::string::npos) in_comment = false;
  }
  return code;
}

std::vector<std::string> literals_of(const std::string& line) {
  return split(line).literals;
}

std::string joined(const std::vector<std::string>& findings) {
  std::string text;
  for (const std::string& finding : findings) text += "\n  " + finding;
  return text;
}

}  // namespace allot::architecture
