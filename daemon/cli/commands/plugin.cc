// SPDX-License-Identifier: Apache-2.0
// Plugin projects, and commands that other programs execute, because only they load plugins.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.h"
#include "cli/commands/plugin_template.h"  // generated from plugin-api/template
#include "cli/sources/programs.h"
#include "cli/words/text.h"

namespace allot::cli {
namespace {

namespace fs = std::filesystem;

struct PluginCheckOptions {
  std::vector<std::string> files;
  bool init = false;
  bool json = false;
};

struct NewPluginOptions {
  std::string name;
  std::string folder;  // empty: the name of the plugin
  bool json = false;
};

// The name is used for a file, a CMake target, a task type and, without punctuation, a class.
void require_name(const std::string& name) {
  const auto is_inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (name.empty() || name.size() > 63 || name[0] < 'a' || name[0] > 'z' ||
      !std::all_of(name.begin(), name.end(), is_inner)) {
    throw Error(
        "'" + name + "' is not a plugin name: 1 to 63 of a-z 0-9 _ -, starting with a letter",
        kExitUsage);
  }
  // Target names reserved by CMake.
  static constexpr std::array<std::string_view, 8> kTaken = {
      "all", "clean", "depend", "edit_cache", "help", "install", "package", "test"};
  if (std::find(kTaken.begin(), kTaken.end(), name) != kTaken.end()) {
    throw Error("'" + name + "' is a CMake target; choose another name", kExitUsage);
  }
}

// "mail_send" -> "MailSend"
std::string class_name(const std::string& name) {
  std::string made;
  bool begins = true;
  for (const char c : name) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_word) made += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = !is_word;
  }
  return made;
}

// The template is a complete project for the type 'hello'. Its licence is left to the author.
std::string made_for(const std::string& name, std::string_view from) {
  std::string text(from);
  if (text.find("SPDX-License-Identifier") < text.find('\n')) text.erase(0, text.find('\n') + 1);
  if (text.rfind("//\n", 0) == 0) text.erase(0, 3);
  replace_all(text, "hello", name);
  replace_all(text, "Hello", class_name(name));
  return text;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw Error(path.string() + " cannot be written: " + std::strerror(errno), kExitCannotCreate);
  }
}

// allot plugin check FILE... executes the worker program. Returns only on failure.
int check_plugins(const Context& context, const PluginCheckOptions& options) {
  std::vector<std::string> words{"--plugin-check"};
  if (options.init) words.emplace_back("--init");
  if (options.json) words.emplace_back("--json");
  for (const std::string& file : options.files) {
    words.push_back((file.rfind('-', 0) == 0 ? "./" : "") + file);
  }
  return run_worker_program(context, words);
}

// allot plugin new NAME writes a project that builds, tests and installs. Throws Error for an
// invalid name or a folder that is not empty.
int new_plugin(const Context& /*context*/, const NewPluginOptions& options) {
  require_name(options.name);
  const fs::path folder = options.folder.empty() ? options.name : options.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_empty(folder, error) && !error) {
    throw Error("the folder " + folder.string() + " is not empty; name another one with --dir",
                kExitCannotCreate);
  }
  if (error) {
    throw Error("the folder " + folder.string() + " cannot be made: " + error.message(),
                kExitCannotCreate);
  }
  auto files = nlohmann::ordered_json::array();
  for (const auto& [name, text] : plugin_template::kFiles) {
    std::string file(name);
    replace_all(file, "hello", options.name);
    if (file == "gitignore") file = ".gitignore";
    write_file(folder / file, made_for(options.name, text));
    files.push_back(file);
  }
  const std::string at = folder.string();
  const nlohmann::ordered_json made = {{"name", options.name}, {"folder", at}, {"files", files}};
  return print_as(options.json, made, [&] {
    std::printf(
        "%s: a plugin for tasks of type '%s'; its work is run() in %s.cc\n"
        "  cmake -S %s -B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
        at.c_str(), options.name.c_str(), options.name.c_str(), at.c_str(), at.c_str(), at.c_str(),
        at.c_str());
  });
}

std::vector<std::string> words_of(std::vector<std::string> words, const JsonOption& options) {
  if (options.json) words.emplace_back("--json");
  return words;
}

// These execute the worker program, too.
int list_plugins(const Context& context, const JsonOption& options) {
  return run_worker_program(context, words_of({"--plugins"}, options));
}

int check(const Context& context, const JsonOption& options) {
  return run_worker_program(context, words_of({"--check", "all"}, options));
}

}  // namespace

void add_plugin(CLI::App& app, const Commands& commands) {
  CLI::App& plugin = *app.add_subcommand("plugin", "Create a plugin project, or check a plugin");
  plugin.require_subcommand(1);
  const auto [make, made] =
      commands.add(plugin, "new", "Create a project: handler, test, CMakeLists.txt", new_plugin);
  make.add_option("NAME", made->name, "Name of the plugin and of its task type")->required();
  add_text(make, "--dir", "DIR", made->folder, "Folder of the project; default: ./NAME");

  const auto [check, checked] = commands.add(
      plugin, "check", "Show what plugin files offer, or why they are refused", check_plugins);
  check.add_option("FILE", checked->files, "Shared objects (.so)")->required();
  check.add_flag("--init", checked->init,
                 "Also create the handlers with the configuration, as a worker does at its start");
}

void add_plugins(CLI::App& app, const Commands& commands) {
  commands.add(app, "plugins", "List the plugins, or why one is refused", list_plugins);
}

void add_check(CLI::App& app, const Commands& commands) {
  commands.add(app, "check", "Check configuration, plugins and database", check);
}

void add_bench(CLI::App& app, const Commands& commands) {
  CLI::App* bench = app.add_subcommand("bench", "Measure this machine: allot bench --help");
  bench->prefix_command()->fallthrough(false)->set_help_flag();  // all words belong to allot-bench
  bench->callback([commands, bench] {
    commands.chosen = [&context = commands.context, bench] {
      if (context.remote.chosen()) remote::no_route();
      return run_program("allot-bench", bench->remaining());
    };
  });
}

}  // namespace allot::cli
