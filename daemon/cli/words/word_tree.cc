// SPDX-License-Identifier: Apache-2.0
#include "cli/words/word_tree.h"

#include <CLI/CLI.hpp>

namespace allot::cli {
namespace {

OptionWord option_word(const CLI::Option& option) {
  OptionWord word;
  word.positional = option.get_positional();
  word.name = word.positional ? option.get_name(true) : "--" + option.get_lnames().front();
  const std::string type = option.get_type_name();
  // The checks follow the colon. A positional has the name of its value.
  word.value = word.positional ? word.name : type.substr(0, type.find(':'));
  if (option.get_items_expected_max() == 0) word.value.clear();
  word.initial = option.get_default_str();
  word.description = option.get_description();
  word.required = option.get_required();
  word.many = option.get_items_expected_max() > 1;
  return word;
}

CommandWord command_word(const CLI::App& app, const std::string& above) {
  CommandWord word;
  word.name = app.get_name();
  word.path = above.empty() ? word.name : above + " " + word.name;
  word.description = app.get_description();
  word.footer = app.get_footer();
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() != positional || option->get_group().empty()) continue;
      word.options.push_back(option_word(*option));
    }
  }
  const auto shown = [](const CLI::App* command) { return !command->get_group().empty(); };
  for (const CLI::App* command : app.get_subcommands(shown)) {
    word.commands.push_back(command_word(*command, word.path));
  }
  return word;
}

}  // namespace

CommandWord word_tree(const CLI::App& app) {
  return command_word(app, "");
}

}  // namespace allot::cli
