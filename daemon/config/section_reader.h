// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/rows.h"
#include "config/settings.h"
#include "config/tree.h"

namespace allot::config {

// Reads the keys of one section. A missing or wrong key keeps its value. The reader keeps
// references to all its arguments.
class SectionReader {
 public:
  // `path` is "pools.mail", as in Lines. `folder` completes relative paths.
  SectionReader(const Node& section, std::string path, const std::string& folder, Lines& lines,
                Problems& problems);

  // One overload per C++ type; min and max as in settings.def.
  void read(Kind kind, const char* key, std::string& out, int min, int max);
  void read(Kind kind, const char* key, std::uint32_t& out, std::int64_t min, std::int64_t max);
  void read(Kind kind, const char* key, milliseconds& out, milliseconds min, milliseconds max);
  void read(Kind kind, const char* key, std::vector<milliseconds>& out, milliseconds min,
            milliseconds max);
  void read(Kind kind, const char* key, bool& out, int min, int max);
  void read(Kind kind, const char* key, std::vector<std::string>& out, int min, int max);
  void read(Kind kind, const char* key, std::map<std::string, std::uint32_t>& out, std::int64_t min,
            std::int64_t max);

  // Refuses every child that is not a key of `section`, and names the nearest key. Subsections are
  // allowed with `allow_sections`.
  void refuse_unknown(Section section, bool allow_sections = false);

 private:
  const Node* find(const char* key);
  void problem(const Node& node, const std::string& text);
  void wrong_type(const Node& node, const std::string& wanted);
  void out_of_range(const Node& node, const std::string& min, const std::string& max);
  void read_name(const Node& node, std::string& out);
  void read_word(const Node& node, const std::vector<std::string_view>& words, std::string& out);
  void read_time(const Node& node, std::string& out);
  void read_path(const Node& node, std::string& out);

  const Node& section_;
  std::string path_;
  const std::string& folder_;
  Lines& lines_;
  Problems& problems_;
};

}  // namespace allot::config
