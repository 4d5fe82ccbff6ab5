// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/version.h"
#include "cli/words/word_tree.h"
#include "config/document.h"
#include "config/roff.h"
#include "json/task_reader.h"

namespace allot::cli {
namespace {

using config::Edition;
using config::ManualPage;

struct Program {
  std::string_view name;
  std::string_view what;
  std::string_view description;
};
constexpr std::array<Program, 4> kPrograms = {{
    {"allotd", "run background jobs on MySQL and MariaDB",
     "allotd starts, monitors and stops the worker processes that run the tasks of the queues. It "
     "stays in the foreground; systemd starts it as allotd.service, which an administrator enables "
     "once a database is configured."},
    {"allot-worker", "run tasks, or check what they need, for allotd",
     "One process with one job, named by its first option. allotd starts it; start it by hand to "
     "run a handler in a debugger. It is installed in /usr/libexec/allot."},
    {"allot-embedded", "keep a private MariaDB for allotd",
     "Creates a data folder, starts mariadbd in it without a port, brings its schema up to date, "
     "and stops it cleanly. allotd starts it if [database] embedded is set. It is installed in "
     "/usr/libexec/allot."},
    {"allot-gateway", "submit, inspect and operate over HTTP",
     "Serves HTTP on a unix socket and on the addresses of [gateway] listen. allotd starts it if "
     "the configuration has [gateway]; allot-gateway.service runs it alone, with its own account "
     "and configuration, /etc/allot/gateway.toml. It is installed in /usr/libexec/allot."},
}};

constexpr char kConfiguration[] = "/etc/allot/allot.toml";

std::string usage_of(const CommandWord& command) {
  std::string text = command.path;
  if (!command.commands.empty()) return text + " COMMAND";
  for (const OptionWord& option : command.options) {
    if (!option.positional) continue;
    const std::string name = option.name + (option.many ? "..." : "");
    text += option.required ? " " + name : " [" + name + "]";
  }
  return text + " [OPTION]...";
}

void add_options(ManualPage& page, const CommandWord& command) {
  for (const OptionWord& option : command.options) {
    const bool valued = !option.positional && !option.value.empty();
    const std::string initial = option.initial.empty() ? "" : " (" + option.initial + ")";
    page.term(option.name + (valued ? " " + option.value : ""), option.description + initial + ".");
  }
}

void add_command(ManualPage& page, const CommandWord& command) {
  if (command.commands.empty()) {
    page.subheading(command.path.substr(command.path.find(' ') + 1));
    page.synopsis(usage_of(command)).paragraph(command.description + ".");
    add_options(page, command);
  }
  for (const CommandWord& below : command.commands) add_command(page, below);
}

void add_exit_codes(ManualPage& page, const std::string& exit_codes) {
  std::string text = exit_codes.substr(exit_codes.find(':') + 1);
  std::replace(text.begin(), text.end(), '\n', ' ');
  page.heading("EXIT STATUS").paragraph(text.substr(text.find_first_not_of(' ')) + ".");
}

// "unique_key" belongs to --unique-key, "queue" to the positional QUEUE.
const OptionWord& option_of(const CommandWord& submit, const std::string& field) {
  std::string option = "--" + field;
  std::string place = field;
  std::replace(option.begin(), option.end(), '_', '-');
  std::transform(place.begin(), place.end(), place.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const OptionWord& word : submit.options) {
    if (word.name == option || word.name == place) return word;
  }
  throw Error("allot submit has neither " + option + " nor " + place);
}

// Makes a sentence of a --help text, which has no capital and no full stop.
std::string sentence(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + ".";
}

// "  --config FILE    configuration": the term ends at the first two blanks.
void add_help_option(ManualPage& page, const std::string& line) {
  const std::string text = line.substr(line.find_first_not_of(' '));
  const std::size_t gap = text.find("  ");
  if (gap == std::string::npos) return (void)page.term(text, "Print it and exit.");
  page.term(text.substr(0, gap), sentence(text.substr(text.find_first_not_of(' ', gap))));
}

// "signals: TERM, INT stop; HUP replaces": a semicolon begins the next sentence.
void add_help_paragraph(ManualPage& page, const std::string& text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) return (void)page.paragraph(text);
  std::string head = text.substr(0, colon);
  std::transform(head.begin(), head.end(), head.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  page.heading(head);
  page.paragraph(sentence(text.substr(colon + 2)));
}

std::string text_of_file(const std::string& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error("cannot read " + path, kExitNoInput);
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw Error("cannot write " + path, kExitCannotCreate);
}

std::string allot_manual(const CommandWord& words, const Edition& edition) {
  ManualPage page("allot", 1, edition, "submit and inspect background jobs");
  page.heading("SYNOPSIS").synopsis("allot [--config FILE] [--embedded DIR] COMMAND [OPTION]...");
  page.heading("DESCRIPTION")
      .paragraph(
          "allot submits tasks, shows them, and manages queues. It uses the database with the "
          "queues of allotd(8), reads the slots of the daemon on this host, and rings its "
          "doorbell; it does not need a running daemon.")
      .paragraph("The options below work with every command, before or after its name.");
  page.heading("OPTIONS");
  add_options(page, words);
  page.heading("COMMANDS");
  for (const CommandWord& command : words.commands) add_command(page, command);
  add_exit_codes(page, words.footer);
  page.heading("ENVIRONMENT")
      .term("ALLOT_CONFIG", "Configuration, if --config is not given.")
      .term("NO_COLOR", "Not empty: no colours on a terminal.");
  page.heading("FILES").term(kConfiguration,
                             "Configuration, readable by root and the group allot.");
  page.heading("SEE ALSO")
      .paragraph("allotd(8), allot.toml(5), allot-ndjson(5), /usr/share/doc/allot/docs/cli.md");
  return page.text();
}

std::string ndjson_manual(const CommandWord& words, const std::vector<std::string>& fields,
                          const Edition& edition) {
  const auto submit =
      std::find_if(words.commands.begin(), words.commands.end(),
                   [](const CommandWord& command) { return command.name == "submit"; });
  ManualPage page("allot-ndjson", 5, edition, "tasks, one per line, for allot submit");
  page.heading("DESCRIPTION")
      .paragraph(
          "allot submit --ndjson reads a file in which each line is a JSON object that describes "
          "one task. An unknown or repeated field is an error; empty lines are skipped, but count "
          "as lines. queue and type are required.");
  page.heading("FIELDS");
  for (const std::string& field : fields) {
    page.term(field, option_of(*submit, field).description + ".");
  }
  page.paragraph(
      "prio is a number, all other fields are strings. A payload that is a string is submitted as "
      "its bytes; any other value as its JSON text, without white space.");
  page.heading("EXAMPLES")
      .verbatim("{\"queue\": \"mail\", \"type\": \"mail.send\", \"payload\": {\"to\": 4711}}");
  page.heading("SEE ALSO").paragraph("allot(1), /usr/share/doc/allot/docs/cli.md");
  return page.text();
}

std::string program_manual(const std::string& program, const std::string& help,
                           const std::string& exit_codes, const Edition& edition) {
  const auto* const found = std::find_if(kPrograms.begin(), kPrograms.end(),
                                         [&](const Program& one) { return one.name == program; });
  if (found == kPrograms.end()) throw Error(program + ": it has no manual page");
  ManualPage page(program, 8, edition, found->what);
  std::vector<std::string> usage;
  std::vector<std::string> options;
  std::vector<std::string> paragraphs;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    if (line.rfind("usage: ", 0) == 0) {
      usage.push_back(line.substr(7));
    } else if (begin == 7 && options.empty()) {
      usage.push_back(line.substr(begin));
    } else if (line.compare(begin, 2, "--") == 0) {
      options.push_back(line);
    } else if (begin == 0 || paragraphs.empty()) {
      paragraphs.push_back(line.substr(begin));
    } else {
      paragraphs.back() += "\n" + line.substr(begin);
    }
  }
  page.heading("SYNOPSIS");
  for (const std::string& line : usage) page.synopsis(line);
  page.heading("DESCRIPTION").paragraph(found->description);
  page.heading("OPTIONS");
  for (const std::string& line : options) add_help_option(page, line);
  for (const std::string& text : paragraphs) add_help_paragraph(page, text);
  add_exit_codes(page, exit_codes);
  page.heading("FILES").term(kConfiguration, "The configuration.");
  page.heading("SEE ALSO").paragraph("allot(1), allot.toml(5), /usr/share/doc/allot/README.md");
  return page.text();
}

}  // namespace

void write_manual(const CommandWord& words, const std::string& folder, const std::string& date) {
  const Edition edition{kVersion, date};
  write(folder + "/allot.1", allot_manual(words, edition));
  write(folder + "/allot.toml.5", config::settings_manual(edition));
  write(folder + "/allot-ndjson.5", ndjson_manual(words, as_json::task_fields(), edition));
  for (const Program& program : kPrograms) {
    const std::string name(program.name);
    write(folder + "/" + name + ".8",
          program_manual(name, text_of_file(folder + "/" + name + ".help"), words.footer, edition));
  }
  write(folder + "/allot.bash", bash_completion(words));
  write(folder + "/_allot", zsh_completion(words));
}

}  // namespace allot::cli
