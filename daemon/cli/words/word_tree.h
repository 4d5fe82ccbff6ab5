// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

// The words of a command line as data, for manual pages and completions.
namespace allot::cli {

struct OptionWord {
  std::string name;     // "--queue"; for a positional "QUEUE"
  std::string value;    // what it takes, "QUEUE"; empty: nothing
  std::string initial;  // its default
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

// Hidden options and commands are left out.
[[nodiscard]] CommandWord word_tree(const CLI::App& app);

}  // namespace allot::cli
