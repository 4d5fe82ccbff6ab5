// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "cli/words/text.h"
#include "cli/words/word_tree.h"

namespace allot::cli {
namespace {

constexpr char kHead[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "# Completion of allot. Generated; do not edit.\n\n";

// Works in both bash and zsh: the words before the one to complete.
constexpr char kBefore[] = R"sh(
# Sets _allot_path (the command so far), _allot_place (how many other words there are),
# _allot_takes (what the next word is) and _allot_ask (which database to ask).
_allot_before() {
  local word option=
  _allot_path=allot _allot_place=0 _allot_takes= _allot_ask=()
  for word in "$@"; do
    if [[ $word == "=" ]]; then
      continue
    elif [[ -n $_allot_takes ]]; then
      case $option in
        --config | --embedded) _allot_ask+=("$option" "$word") ;;
      esac
      _allot_takes=
    elif [[ $word == --*=* ]]; then
      case $word in
        --config=* | --embedded=*) _allot_ask+=("$word") ;;
      esac
    elif [[ $word == -* ]]; then
      option=$word
      _allot_takes=$(_allot_value "$_allot_path $word")
    elif [[ $'\n'$(_allot_words "$_allot_path") == *$'\n'"${word}:command "* ]]; then
      _allot_path="$_allot_path $word"
    else
      _allot_place=$((_allot_place + 1))
    fi
  done
  _allot_pending=$_allot_takes
  if [[ -z $_allot_takes ]]; then _allot_takes=$(_allot_value "$_allot_path $_allot_place"); fi
}

# Nothing when the database does not answer at once; only names that no shell would expand.
_allot_queues() {
  timeout 2 "$1" "${_allot_ask[@]}" queue list 2>/dev/null |
    awk 'NR > 1 && $1 ~ /^[A-Za-z0-9._:@\/-]+$/ { print $1 }'
}
)sh";

constexpr char kBash[] = R"sh(
_allot() {
  local _allot_path _allot_place _allot_takes _allot_pending _allot_ask
  local word=${COMP_WORDS[COMP_CWORD]} takes
  if [[ $word == "=" ]]; then word=; fi
  _allot_before "${COMP_WORDS[@]:1:COMP_CWORD-1}"
  takes=$_allot_takes
  if [[ -z $_allot_pending && $word == -* ]]; then takes=; fi
  COMPREPLY=()
  case $takes in
    QUEUE | FROM | TO) mapfile -t COMPREPLY < <(compgen -W "$(_allot_queues "${COMP_WORDS[0]}")" -- "$word") ;;
    FILE)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      ;;
    DIR)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -d -- "$word")
      ;;
    "") mapfile -t COMPREPLY < <(compgen -W "$(_allot_words "$_allot_path" | cut -d: -f1)" -- "$word") ;;
  esac
}

complete -F _allot allot
)sh";

constexpr char kZsh[] = R"sh(
_allot() {
  local _allot_path _allot_place _allot_takes _allot_pending takes line
  local -a _allot_ask known
  _allot_before "${(@)words[2,CURRENT-1]}"
  takes=$_allot_takes
  if [[ -z $_allot_pending && $PREFIX == -* ]]; then takes=; fi
  case $takes in
    QUEUE | FROM | TO) compadd -- ${(f)"$(_allot_queues $words[1])"} ;;
    FILE) _files ;;
    DIR) _files -/ ;;
    "")
      for line in ${(f)"$(_allot_words $_allot_path)"}; do
        known+=("${line/:command /:}")
      done
      _describe allot known
      ;;
  esac
}

if [[ $funcstack[1] == _allot ]]; then
  _allot "$@"
else
  compdef _allot allot
fi
)sh";

void each(const CommandWord& command, const std::function<void(const CommandWord&)>& act) {
  act(command);
  for (const CommandWord& below : command.commands) each(below, act);
}

// The table of _allot_words PATH: a line "word:description" for each word that may follow.
std::string word_table(const CommandWord& words) {
  std::string out = "_allot_words() {\n  case $1 in\n";
  each(words, [&](const CommandWord& command) {
    out += "    " + shell_word(command.path) + ") printf '%s\\n'";
    for (const CommandWord& below : command.commands) {
      out += " \\\n      " + shell_word(below.name + ":command " + below.description);
    }
    for (const OptionWord& option : command.options) {
      if (option.positional) continue;
      out += " \\\n      " + shell_word(option.name + ":" + option.description);
    }
    if (&command != &words) {  // the program's own options are accepted after every command
      for (const OptionWord& option : words.options) {
        if (option.name == "--help" || option.name == "--version") continue;
        out += " \\\n      " + shell_word(option.name + ":" + option.description);
      }
    }
    out += " ;;\n";
  });
  return out + "  esac\n}\n";
}

// The table of _allot_value "PATH OPTION" or "PATH PLACE": values that the user may enter there.
std::string value_table(const CommandWord& words) {
  std::string out = "\n_allot_value() {\n  case $1 in\n";
  each(words, [&](const CommandWord& command) {
    int place = 0;
    for (const OptionWord& option : command.options) {
      if (option.value.empty()) continue;
      const std::string which = option.positional ? std::to_string(place++) : option.name;
      std::string pattern = shell_word(command.path + " " + which);
      if (option.positional && option.many) pattern = shell_word(command.path + " ") + "[0-9]*";
      if (&command == &words) pattern = "*" + shell_word(" " + which);
      out += "    " + pattern + ") echo " + shell_word(option.value) + " ;;\n";
    }
  });
  return out + "  esac\n}\n";
}

}  // namespace

std::string bash_completion(const CommandWord& words) {
  return kHead + word_table(words) + value_table(words) + kBefore + kBash;
}

std::string zsh_completion(const CommandWord& words) {
  return "#compdef allot\n" + (kHead + word_table(words)) + value_table(words) + kBefore + kZsh;
}

}  // namespace allot::cli
