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

  // Reads the value of a key, if the section has it.
  template <typename Value, typename Min, typename Max>
  void read(const Key& key, Value& out, Min min, Max max) {
    if (const Node* node = find(key.name)) read(*node, key.kind, out, min, max);
  }

  // Refuses every child that is not a key of the section with this header, and names the nearest
  // key. Subsections are allowed with `allow_sections`.
  void refuse_unknown(std::string_view header, bool allow_sections);

 private:
  // One overload per C++ type; min and max as in settings.def.
  void read(const Node& node, Kind kind, std::string& out, int min, int max);
  void read(const Node& node, Kind kind, std::uint32_t& out, std::int64_t min, std::int64_t max);
  void read(const Node& node, Kind kind, milliseconds& out, milliseconds min, milliseconds max);
  void read(const Node& node, Kind kind, std::vector<milliseconds>& out, milliseconds min,
            milliseconds max);
  void read(const Node& node, Kind kind, bool& out, int min, int max);
  void read(const Node& node, Kind kind, std::vector<std::string>& out, int min, int max);
  void read(const Node& node, Kind kind, std::map<std::string, std::uint32_t>& out,
            std::int64_t min, std::int64_t max);

  const Node* find(const char* key);
  void problem(const Node& node, const std::string& text);
  void wrong_type(const Node& node, const std::string& wanted);
  void out_of_range(const Node& node, const std::string& min, const std::string& max);
  void read_time(const Node& node, std::string& out);
  void read_path(const Node& node, std::string& out);

  const Node& section_;
  std::string path_;
  const std::string& folder_;
  Lines& lines_;
  Problems& problems_;
};

}  // namespace allot::config
