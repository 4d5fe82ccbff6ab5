// SPDX-License-Identifier: Apache-2.0
// Manual pages, completions and docs/cli.md against the commands and their --help.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "config/rows.h"
#include "json/task_reader.h"
#include "support/process.h"
#include "support/temp_dir.h"
#include "support/terminal.h"

namespace allot::cli {
namespace {

using Words = std::vector<std::string>;

std::string must(const Words& words, const support::ProcessOptions& options = {}) {
  const auto done = support::run_program(words, options);
  EXPECT_EQ(done.status, (support::ExitStatus{0, 0}))
      << testing::PrintToString(words) << done.out << done.err;
  return done.out;
}

bool installed(const std::string& program) {
  return support::run_program({"sh", "-c", "command -v " + program}).status.code == 0;
}

// The file made by the build.
std::string manual(const std::string& name) {
  return support::read_file(std::string(ALLOT_MANUAL) + "/" + name);
}

// The --help text of one command.
struct Help {
  std::set<std::string> commands;
  std::set<std::string> options;
};

Help help_of(const std::string& path) {
  Words words{ALLOT_PROGRAM};
  std::istringstream parts(path);
  for (std::string part; parts >> part;) words.push_back(part);
  words.emplace_back("--help");
  std::istringstream lines(must(words));
  Help help;
  bool commands = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (line.empty() || line[0] != ' ') commands = line == "Subcommands:";
    if (commands && std::regex_search(line, found, std::regex("^  ([a-z][a-z-]*)"))) {
      help.commands.insert(found[1]);
    }
    if (!commands && std::regex_search(line, found, std::regex("^  (?:-.,)?(--[a-z-]+)"))) {
      help.options.insert(found[1]);
    }
  }
  return help;
}

// Every command without subcommands, with its options; "" has the program's own.
std::map<std::string, std::set<std::string>> leaves(const std::string& path = "") {
  const Help help = help_of(path);
  std::map<std::string, std::set<std::string>> all;
  if (help.commands.empty() || path.empty()) all[path] = help.options;
  for (const std::string& command : help.commands) {
    if (path.empty() && command == "bench") continue;  // words of another program
    all.merge(leaves(path.empty() ? command : path + " " + command));
  }
  return all;
}

std::string dashed(const std::string& text) {
  return std::regex_replace(text, std::regex("-"), "\\-");
}

TEST(Json, EveryCommandHasIt) {
  for (const auto& [command, options] : leaves()) {
    EXPECT_EQ(options.count("--json"), command.empty() ? 0U : 1U) << command;
  }
}

TEST(ManualTest, EveryCommandAndOptionStandsInThePage) {
  const std::string page = manual("allot.1");
  const auto all = leaves();
  EXPECT_GT(all.size(), 15U);
  for (const auto& [command, options] : all) {
    const std::string head =
        command.empty() ? ".SH OPTIONS\n" : ".SS \"" + dashed(command) + "\"\n";
    const std::size_t begin = page.find(head);
    ASSERT_NE(begin, std::string::npos) << head;
    const std::string part = page.substr(begin, page.find("\n.S", begin + 1) - begin);
    for (const std::string& option : options) {
      EXPECT_NE(part.find("\n\\fB" + dashed(option) + "\\fR"), std::string::npos)
          << command << " " << option;
    }
  }
}

TEST(ManualTest, EveryCommandAndOptionStandsInTheDocument) {
  const std::string page = support::read_file(ALLOT_SOURCE_DIR "/docs/cli.md");
  for (const auto& [command, options] : leaves()) {
    EXPECT_NE(page.find("allot " + command), std::string::npos) << command;
    for (const std::string& option : options) {
      if (option == "--help" || option == "--version") continue;
      EXPECT_TRUE(std::regex_search(page, std::regex(option + "\\b"))) << command << " " << option;
    }
  }
}

TEST(ManualTest, EveryKeyAndEveryFieldHasItsPage) {
  const std::string settings = manual("allot.toml.5");
  for (const config::Row& row : config::rows()) {
    EXPECT_NE(settings.find("\\fB" + std::string(row.key) + "\\fR ="), std::string::npos)
        << row.key;
  }
  const std::string lines = manual("allot-ndjson.5");
  for (const std::string& field : as_json::task_fields()) {
    EXPECT_NE(lines.find("\\fB" + field + "\\fR\n"), std::string::npos) << field;
  }
}

TEST(ManualTest, TheOtherProgramsHaveTheOptionsOfTheirHelp) {
  const std::map<std::string, std::string> programs{{"allotd", ALLOT_DAEMON_PROGRAM},
                                                    {"allot-worker", ALLOT_WORKER},
                                                    {"allot-embedded", ALLOT_EMBEDDED},
                                                    {"allot-gateway", ALLOT_GATEWAY_PROGRAM}};
  for (const auto& [name, path] : programs) {
    const std::string page = manual(name + ".8");
    const std::string help = must({path, "--help"});
    const std::regex option("--[a-z-]+");
    int options = 0;
    for (std::sregex_iterator found(help.begin(), help.end(), option), end; found != end; ++found) {
      ++options;
      EXPECT_NE(page.find("\\fB" + dashed(found->str())), std::string::npos)
          << name << " " << found->str();
    }
    EXPECT_GT(options, 1) << name;
  }
  for (const char* signal : {"TERM", "INT", "QUIT", "HUP", "USR1", "USR2"}) {
    EXPECT_NE(manual("allotd.8").find(signal), std::string::npos) << signal;
  }
}

TEST(ManualTest, ManAndMandocFindNothingToComplainOf) {
  if (!installed("mandoc")) GTEST_SKIP() << "no mandoc";
  for (const char* page : {"allot.1", "allot.toml.5", "allot-ndjson.5", "allotd.8",
                           "allot-worker.8", "allot-embedded.8", "allot-gateway.8"}) {
    const std::string path = std::string(ALLOT_MANUAL) + "/" + page;
    EXPECT_EQ(must({"mandoc", "-T", "lint", "-W", "warning", path}), "") << page;
    if (!installed("man")) continue;
    const auto man =
        support::run_program({"man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path},
                             {.environment = {"LC_ALL=C.UTF-8", "MANWIDTH=80"}});
    EXPECT_EQ(man.err, "") << page;
  }
}

// Completions of bash for the last of these words.
std::set<std::string> offered(const Words& words, const std::string& directory = {}) {
  std::string line;
  for (const std::string& word : words) line += " '" + word + "'";
  const std::string script = "set -u; source " ALLOT_MANUAL "/allot.bash; COMP_WORDS=(" + line +
                             "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                             "; _allot; for word in \"${COMPREPLY[@]}\"; do echo \"$word\"; done";
  std::istringstream lines(must({"bash", "--norc", "-c", script}, {.directory = directory}));
  std::set<std::string> all;
  for (std::string one; std::getline(lines, one);) all.insert(one);
  return all;
}

TEST(CompletionTest, BashOffersEveryCommandAndOption) {
  for (const auto& [command, options] : leaves()) {
    Words words{"allot"};
    std::istringstream parts(command);
    for (std::string part; parts >> part;) {
      Words before = words;
      before.emplace_back(part.substr(0, 1));
      EXPECT_EQ(offered(before).count(part), 1U) << command;
      words.push_back(part);
    }
    words.emplace_back("--");
    const auto all = offered(words);
    for (const std::string& option : options) EXPECT_EQ(all.count(option), 1U) << command << option;
    EXPECT_EQ(all.count("--config"), 1U) << command;
  }
}

TEST(CompletionTest, BashKnowsWhereItIs) {
  using Set = std::set<std::string>;
  EXPECT_EQ(offered({"allot", "dead", "r"}), Set{"retry"});
  EXPECT_EQ(offered({"allot", "--config", "dead", "dead", "r"}), Set{"retry"});
  EXPECT_EQ(offered({"allot", "--config=x", "queue", "pa"}), Set{"pause"});
  EXPECT_EQ(offered({"allot", "queue", "pause", "q", "--re"}), Set{"--reason"});
  EXPECT_EQ(offered({"allot", "queue", "pause", "q", "--reason", ""}), Set{}) << "any text";
  EXPECT_EQ(offered({"allot", "task", "ow", "x", "--pay"}), Set{});
  const support::TempDir folder;
  (void)folder.write("tasks one.ndjson", "");
  EXPECT_EQ(offered({"allot", "submit", "--ndjson", "ta"}, folder.path()), Set{"tasks one.ndjson"});
  EXPECT_EQ(offered({"allot", "submit", "--ndjson", "=", "ta"}, folder.path()),
            Set{"tasks one.ndjson"});
}

// Without the database only the names are missing.
TEST(CompletionTest, BashIsSilentWithoutAnAnswer) {
  EXPECT_EQ(offered({"/nonexistent/allot", "queue", "pause", ""}), std::set<std::string>{});
  const support::TempDir folder;
  const std::string config =
      folder.write("allot.toml", "[database]\nsocket = \"/nonexistent/socket\"\n");
  EXPECT_EQ(offered({ALLOT_PROGRAM, "--config", config, "queue", "pause", ""}),
            std::set<std::string>{});
}

// In a real line editor: the test types the words, then the tab key.
TEST(CompletionTest, ZshCompletes) {
  if (!installed("zsh")) GTEST_SKIP() << "no zsh";
  const support::TempDir home;
  (void)home.write(
      ".zshrc",
      "fpath=(" ALLOT_MANUAL
      " $fpath)\nautoload -Uz compinit\ncompinit -u -D\nzstyle ':completion:*' insert-tab false\n"
      "allot() { print -r -- \"words:$*:\" }\nPS1='$ '\n");
  support::Terminal terminal;
  terminal.type("allot dead dis\t--al\t\nallot queue pa\t\nexit\n");
  const auto done = terminal.run(
      {"zsh", "-i"}, {.environment = {"ZDOTDIR=" + home.path(), "HOME=" + home.path()}}, {0, 1, 2});
  EXPECT_EQ(done.status.signal, 0);
  EXPECT_NE(terminal.written().find("words:dead discard --all:"), std::string::npos)
      << terminal.written();
  EXPECT_NE(terminal.written().find("words:queue pause:"), std::string::npos) << terminal.written();
}

}  // namespace
}  // namespace allot::cli
