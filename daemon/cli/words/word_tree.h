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

}  // namespace allot::cli
