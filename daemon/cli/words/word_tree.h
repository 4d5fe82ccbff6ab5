// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// Commands and options as data, for manual pages and completions.
namespace allot::cli {

struct OptionWord {
  std::string name;     // "--queue"; for a positional "QUEUE"
  std::string value;    // name of the value, "QUEUE"; empty: takes none
  std::string initial;  // default value
  std::string description;
  bool positional = false;
  bool required = false;
  bool many = false;  // may be repeated
};

struct CommandWord {
  std::string name;  // "retry"; for the program its own name
  std::string path;  // "allot dead retry"
  std::string description;
  std::string footer;
  std::vector<OptionWord> options;  // positionals in their order, then the others
  std::vector<CommandWord> commands;
};

// Hidden options and commands are omitted.
[[nodiscard]] CommandWord word_tree(const CLI::App& app);

// Shell completion of the command line, generated when Allot is built. The value name decides the
// completion: QUEUE calls `allot queue list`, FILE and DIR list folders.
[[nodiscard]] std::string bash_completion(const CommandWord& words);
[[nodiscard]] std::string zsh_completion(const CommandWord& words);

// Manual pages of the programs, made when Allot is built; the page of the configuration file is
// made by config/document.h.
//
// allot(1) has every command with its options; allot-ndjson(5) the fields of a line of allot submit
// --ndjson, described as the options of submit with the same names; the pages of the other
// programs, section 8, come from their --help: usage lines, options, and paragraphs that begin with
// a word and a colon.
//
// Writes all pages and the completions into `folder`, which contains PROGRAM.help
// for each of the other programs. Throws Error.
void write_manual(const CommandWord& words, const std::string& folder, const std::string& date);

}  // namespace allot::cli
