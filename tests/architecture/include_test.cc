// SPDX-License-Identifier: Apache-2.0
// Permitted includes: arrows.txt for the project's headers, kHeavy for headers of libraries.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "architecture/page_tables.h"
#include "architecture/source_files.h"

namespace allot::architecture {
namespace {

using Arrows = std::map<std::string, std::set<std::string>>;

Arrows arrows_in(const std::string& text) {
  Arrows arrows;
  for (const ArrowLine& line : arrow_lines(text)) {
    std::set<std::string>& allowed = arrows[line.folder];
    std::istringstream names(line.allowed);
    for (std::string name; names >> name;) allowed.insert(name);
  }
  return arrows;
}

struct Include {
  char form;  // '"' or '<'
  std::string header;
};

std::optional<Include> include_on(const std::string& line) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  std::smatch match;
  if (!std::regex_search(line, match, kInclude)) return std::nullopt;
  return Include{match[1].str()[0], match[2].str()};
}

// Folder of a header of this project; "" if it has none.
std::string folder_of(const std::string& header) {
  if (header == "sql_text.h") return "sql";
  const std::size_t slash = header.find('/');
  if (slash == std::string::npos) return "";
  const std::string folder = header.substr(0, slash);
  if (header == "allot/client.h" || header == "allot/submit_options.h") return "client-api";
  return folder == "allot" ? "plugin-api" : folder;
}

// "queue/verbs" for "queue/verbs/block.h"; "" for a header directly in its folder.
std::string room_of(const std::string& header) {
  const std::size_t last = header.rfind('/');
  return last == header.find('/') ? "" : header.substr(0, last);
}

bool has_rooms(const Arrows& arrows, const std::string& folder) {
  const auto after = arrows.lower_bound(folder + "/");
  return after != arrows.end() && after->first.starts_with(folder + "/");
}

// Key of the line of the table that applies to a file: its room or, for a folder without rooms or a
// file directly in the folder, the folder.
std::string line_for(const Arrows& arrows, const SourceFile& file) {
  if (file.in("client/include/")) return "client-api";
  if (file.in("client/")) return "client";
  static const std::regex kPath("^daemon/(([^/]+)/.+)");
  std::smatch match;
  if (!std::regex_match(file.path, match, kPath)) return "";
  const std::string room = room_of(match[1]);
  return room.empty() || !has_rooms(arrows, match[2]) ? match[2].str() : room;
}

// Describes what is wrong with an include of the project; "" if nothing is.
std::string fault_of(const Arrows& arrows, const std::string& line, const Include& include) {
  const std::string folder = line.substr(0, line.find('/'));
  const std::string from = folder_of(include.header);
  const bool ours = arrows.count(from) != 0 || from == "sql" || from == "plugin-api";
  if (include.form == '<') return ours ? "ours is included by quotes" : "";
  if (!ours) return include.header + " is of no folder that arrows.txt knows";
  // Within a folder the arrows between its rooms apply; files directly in the folder may include
  // all rooms.
  const std::string room = from == folder && line != folder ? room_of(include.header) : from;
  if (room.empty()) return line + " may not include " + include.header;
  if (room == line || arrows.at(line).count(room) != 0) return "";
  if (from != folder && arrows.at(line).count(room_of(include.header)) != 0) return "";
  return line + " may not include " + room;
}

std::vector<std::string> forbidden_arrows(const Arrows& arrows, const SourceFile& file) {
  const std::string line = line_for(arrows, file);
  if (line.empty()) return {file.path + ": is in no folder"};
  if (arrows.count(line) == 0) return {file.path + ": arrows.txt has no line for " + line};
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const auto include = include_on(file.lines[i]);
    if (!include) continue;
    const std::string fault = fault_of(arrows, line, *include);
    if (!fault.empty()) findings.push_back(file.at(i) + fault);
  }
  return findings;
}

const Arrows& our_arrows() {
  static const Arrows kArrows = arrows_in(text_of("tests/architecture/arrows.txt"));
  return kArrows;
}

TEST(ArrowTest, EveryIncludeIsAllowed) {
  std::vector<std::string> findings;
  for (const SourceFile& file : sources_below({"client", "daemon"})) {
    for (std::string& finding : forbidden_arrows(our_arrows(), file)) {
      findings.push_back(std::move(finding));
    }
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(ArrowTest, AForbiddenOneIsFound) {
  const auto finding = [](const std::string& path, const std::string& text) {
    return joined(forbidden_arrows(our_arrows(), made_up(path, text)));
  };
  EXPECT_EQ(finding("daemon/queue/x.cc", "#include \"queue/x.h\"\n#include \"db/error.h\"\n"), "");
  EXPECT_EQ(finding("daemon/queue/x.cc", "\n#include \"plugin_host/registry.h\"\n"),
            "\n  daemon/queue/x.cc:2: queue may not include plugin_host");
  EXPECT_EQ(finding("daemon/supervisor/x.h", "#  include \"db/error.h\"\n"),
            "\n  daemon/supervisor/x.h:1: supervisor may not include db");
  EXPECT_EQ(finding("daemon/worker/x.cc", "#include \"sql/queries.h\"\n"),
            "\n  daemon/worker/x.cc:1: worker may not include sql");
  EXPECT_EQ(finding("daemon/cli/x.cc", "#include \"x.h\"\n"),
            "\n  daemon/cli/x.cc:1: x.h is of no folder that arrows.txt knows");
  EXPECT_EQ(finding("daemon/base/x.cc", "#include <base/clock.h>\n"),
            "\n  daemon/base/x.cc:1: ours is included by quotes");
  EXPECT_EQ(finding("client/include/allot/client.h", "#include \"db/error.h\"\n"),
            "\n  client/include/allot/client.h:1: client-api may not include db");
  EXPECT_EQ(finding("client/x.cc", "#include \"cli/words/text.h\"\n"),
            "\n  client/x.cc:1: client may not include cli");
  EXPECT_EQ(finding("daemon/attic/x.cc", ""),
            "\n  daemon/attic/x.cc: arrows.txt has no line for attic");
}

TEST(ArrowTest, AForbiddenOneBetweenRoomsIsFound) {
  const Arrows arrows = arrows_in(
      "base:\nlog: base\nhouse: base log\nhouse/cellar: base\nhouse/kitchen: house/cellar log\n"
      "street: house\nlane: house/cellar\n");
  const auto finding = [&](const std::string& path, const std::string& header) {
    return joined(forbidden_arrows(arrows, made_up(path, "#include \"" + header + "\"\n")));
  };
  EXPECT_EQ(finding("daemon/house/kitchen/x.cc", "house/kitchen/y.h"), "");
  EXPECT_EQ(finding("daemon/house/kitchen/x.cc", "house/cellar/y.h"), "");
  EXPECT_EQ(finding("daemon/house/kitchen/x.cc", "log/log.h"), "");
  EXPECT_EQ(finding("daemon/house/cellar/x.cc", "house/kitchen/y.h"),
            "\n  daemon/house/cellar/x.cc:1: house/cellar may not include house/kitchen");
  EXPECT_EQ(finding("daemon/house/cellar/x.cc", "log/log.h"),
            "\n  daemon/house/cellar/x.cc:1: house/cellar may not include log")
      << "its folder may, and this room may not";
  EXPECT_EQ(finding("daemon/house/attic/x.cc", "base/clock.h"),
            "\n  daemon/house/attic/x.cc: arrows.txt has no line for house/attic");
  // A file directly in the folder joins the rooms, and no room may include it.
  EXPECT_EQ(finding("daemon/house/main.cc", "house/kitchen/y.h"), "");
  EXPECT_EQ(finding("daemon/house/main.cc", "street/y.h"),
            "\n  daemon/house/main.cc:1: house may not include street");
  EXPECT_EQ(finding("daemon/house/kitchen/x.cc", "house/house.h"),
            "\n  daemon/house/kitchen/x.cc:1: house/kitchen may not include house/house.h");
  // Other folders may include the folder and all of its rooms.
  EXPECT_EQ(finding("daemon/street/x.cc", "house/cellar/y.h"), "");
  // Or only one room.
  EXPECT_EQ(finding("daemon/lane/x.cc", "house/cellar/y.h"), "");
  EXPECT_EQ(finding("daemon/lane/x.cc", "house/kitchen/y.h"),
            "\n  daemon/lane/x.cc:1: lane may not include house");
  EXPECT_EQ(finding("daemon/log/x.cc", "house/cellar/y.h"),
            "\n  daemon/log/x.cc:1: log may not include house");
}

// A room has no arrow to another folder that its folder does not have, and none to a room
// elsewhere.
TEST(ArrowTest, ARoomMayNoMoreThanItsFolder) {
  for (const auto& [room, allowed] : our_arrows()) {
    const std::string folder = room.substr(0, room.find('/'));
    if (folder == room) continue;
    ASSERT_EQ(our_arrows().count(folder), 1U) << room;
    for (const std::string& from : allowed) {
      const bool of_this_folder = from.starts_with(folder + "/") && our_arrows().count(from) != 0;
      EXPECT_TRUE(of_this_folder || our_arrows().at(folder).count(from) != 0)
          << room << " " << from;
    }
  }
}

// No cycles: two folders that include each other are one.
TEST(ArrowTest, TheArrowsHaveNoCircle) {
  for (const auto& [start, first] : our_arrows()) {
    std::set<std::string> reached = first;
    for (std::size_t before = 0; before != reached.size();) {
      before = reached.size();
      for (const std::string& name : std::set<std::string>(reached)) {
        const auto further = our_arrows().find(name);
        if (further == our_arrows().end()) continue;
        reached.insert(further->second.begin(), further->second.end());
      }
    }
    EXPECT_EQ(reached.count(start), 0U) << start << " includes itself in a circle";
  }
}

// docs/architecture.md has the same table for readers.
TEST(ArrowTest, TheDocumentHasThisTable) {
  EXPECT_TRUE(text_of(kArchitecturePage) == renewed_architecture())
      << kArchitecturePage << " is stale: run  cmake --build build/dev --target architecture-doc";
  EXPECT_GT(our_arrows().size(), 10U);
  for (const ArrowLine& line : arrow_lines(text_of("tests/architecture/arrows.txt")))
    EXPECT_FALSE(line.purpose.empty()) << line.folder << " has no comment above it";
}

// Headers of libraries and the only places that may include them; no header of the product may.
struct Heavy {
  const char* header;  // prefix of the header's name
  const char* where;   // permitted places, as a regular expression on the path
};
const Heavy kHeavy[] = {
    {"mysql", "(daemon/db|tests/db/client)/.*|tests/e2e/door.*"},
    {"errmsg.h", "daemon/db/.*"},
    {"mariadb", "daemon/db/.*"},
    {"boost/",
     "daemon/(gateway/http/((request_parser|server|session|session_lines|transport)\\.cc|"
     "awaitable\\.h)|plugin_host/.*|queue/submit/placement.cc)"},
    {"gateway/http/session.h", "daemon/gateway/http/(server|session|session_lines)\\.cc"},
    {"spdlog/", "daemon/log/.*"},
    {"fmt/", "daemon/log/.*"},
    {"toml++/", "daemon/config/.*"},
    {"nlohmann/",
     "(daemon/(cli|gateway/api|gateway/fireworq|gateway/"
     "ui|json|operations|plugin_host|steward|worker|queue/"
     "schedules)|plugins|tests)/.*"},
    {"CLI/", "(daemon/cli|tests/fault)/.*"},
    {"Poco/", "(daemon/cli/remote|plugins|tests)/.*"},
};

// Forward declarations of a library, permitted in headers.
constexpr std::string_view kLight = "nlohmann/json_fwd.hpp";
// Names the coroutines of the HTTP server, for its sources that include Asio.
constexpr std::string_view kAwaitable = "daemon/gateway/http/awaitable.h";

std::vector<std::string> misplaced_libraries(const SourceFile& file) {
  std::vector<std::string> findings;
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const auto include = include_on(file.lines[i]);
    if (!include) continue;
    for (const Heavy& heavy : kHeavy) {
      if (!include->header.starts_with(heavy.header)) continue;
      if (!std::regex_match(file.path, std::regex(heavy.where))) {
        findings.push_back(file.at(i) + include->header + " may be included only in " +
                           heavy.where);
      } else if (file.is_header() && !file.in("tests/") && include->header != kLight &&
                 file.path != kAwaitable) {
        findings.push_back(file.at(i) + include->header + " is too heavy for a header");
      }
    }
  }
  return findings;
}

TEST(LibraryTest, EveryLibraryHasItsPlace) {
  std::vector<std::string> findings;
  for (const SourceFile& file :
       sources_below({"client", "daemon", "plugin-api", "plugins", "sql", "tests"})) {
    for (std::string& finding : misplaced_libraries(file)) findings.push_back(std::move(finding));
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(LibraryTest, AMisplacedOneIsFound) {
  const auto finding = [](const std::string& path, const std::string& line) {
    return joined(misplaced_libraries(made_up(path, line)));
  };
  EXPECT_EQ(finding("daemon/cli/x.h", "#include <nlohmann/json_fwd.hpp>"), "");
  EXPECT_NE(finding("daemon/cli/x.h", "#include <nlohmann/json.hpp>"), "");
  EXPECT_NE(finding("daemon/queue/x.h", "#include <nlohmann/json_fwd.hpp>"), "");
  EXPECT_EQ(finding("daemon/db/x.cc", "#include <mysql.h>"), "");
  EXPECT_EQ(finding("daemon/db/x.h", "#include <mysql.h>"),
            "\n  daemon/db/x.h:1: mysql.h is too heavy for a header");
  EXPECT_EQ(finding("daemon/queue/x.cc", "#include <mysqld_error.h>"),
            "\n  daemon/queue/x.cc:1: mysqld_error.h may be included only in "
            "(daemon/db|tests/db/client)/.*|tests/e2e/door.*");
  EXPECT_NE(finding("daemon/supervisor/x.cc", "#include <boost/dll.hpp>"), "");
  EXPECT_NE(finding("plugin-api/include/allot/x.hpp", "#include <spdlog/spdlog.h>"), "");
}

// A plugin may use only the SDK of this project, and a few parts that need nothing else.
TEST(LibraryTest, PluginsIncludeTheSdkOnly) {
  const std::set<std::string> parts = {"base/mutant.h",       "base/nearest.h", "base/unique_fd.h",
                                       "base/utf8.h",         "json/base64.h",  "json/strict.h",
                                       "thread/deaf_thread.h"};
  std::vector<std::string> findings;
  for (const SourceFile& file : sources_below({"plugins"})) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const auto include = include_on(file.lines[i]);
      if (!include) continue;
      const std::string from = folder_of(include->header);
      if (parts.contains(include->header)) continue;
      if (our_arrows().count(from) != 0 || from == "sql") {
        findings.push_back(file.at(i) + include->header + " is not for plugins");
      }
    }
  }
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

}  // namespace
}  // namespace allot::architecture
