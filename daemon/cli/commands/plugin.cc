// SPDX-License-Identifier: Apache-2.0
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

void replace(std::string& text, std::string_view from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// The template is a complete project for the type 'hello'. Its licence is left to the author.
std::string made_for(const std::string& name, std::string_view from) {
  std::string text(from);
  if (text.find("SPDX-License-Identifier") < text.find('\n')) text.erase(0, text.find('\n') + 1);
  if (text.rfind("//\n", 0) == 0) text.erase(0, 3);
  replace(text, "hello", name);
  replace(text, "Hello", class_name(name));
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
    replace(file, "hello", options.name);
    if (file == "gitignore") file = ".gitignore";
    write_file(folder / file, made_for(options.name, text));
    files.push_back(file);
  }
  const std::string at = folder.string();
  if (options.json) {
    using nlohmann::ordered_json;
    const ordered_json made = {{"name", options.name}, {"folder", at}, {"files", files}};
    std::printf("%s\n", made.dump(2, ' ', false, ordered_json::error_handler_t::replace).c_str());
    return kExitOk;
  }
  std::printf(
      "%s: a plugin for tasks of type '%s'; its work is run() in %s.cc\n"
      "  cmake -S %s -B %s/build && cmake --build %s/build && ctest --test-dir %s/build\n",
      at.c_str(), options.name.c_str(), options.name.c_str(), at.c_str(), at.c_str(), at.c_str(),
      at.c_str());
  return kExitOk;
}

// allot plugins executes the worker program, too.
int list_plugins(const Context& context, const JsonOption& options) {
  std::vector<std::string> arguments{"--plugins"};
  if (options.json) arguments.emplace_back("--json");
  return run_worker_program(context, arguments);
}

}  // namespace

void add_plugin(CLI::App& app, const Commands& commands) {
  CLI::App& plugin = *app.add_subcommand("plugin", "Create a plugin project, or check a plugin");
  plugin.require_subcommand(1);
  const auto made = std::make_shared<NewPluginOptions>();
  CLI::App& make = *plugin.add_subcommand("new", "Create a project: handler, test, CMakeLists.txt");
  make.add_option("NAME", made->name, "Name of the plugin and of its task type")->required();
  make.add_option("--dir", made->folder, "Folder of the project; default: ./NAME")
      ->type_name("DIR");
  make.add_flag("--json", made->json, "As JSON");
  make.callback([commands, made] { commands.choose(new_plugin, made); });

  const auto checked = std::make_shared<PluginCheckOptions>();
  CLI::App& check =
      *plugin.add_subcommand("check", "Show what plugin files offer, or why they are refused");
  check.add_option("FILE", checked->files, "Shared objects (.so)")->required();
  check.add_flag("--init", checked->init,
                 "Also create the handlers with the configuration, as a worker does at its start");
  check.add_flag("--json", checked->json, "As JSON");
  check.callback([commands, checked] { commands.choose(check_plugins, checked); });
}

void add_plugins(CLI::App& app, const Commands& commands) {
  commands.add_plain(app, "plugins", "List the plugins, or why one is refused", list_plugins);
}

}  // namespace allot::cli
