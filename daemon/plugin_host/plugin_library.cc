// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/plugin_library.h"

#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <vector>

namespace allot::plugin_host {
namespace {

// Never emptied, on purpose: see the header.
std::vector<boost::dll::shared_library>& opened() {
  static auto& libraries = *new std::vector<boost::dll::shared_library>;
  return libraries;
}

}  // namespace

std::variant<const allot_plugin*, Finding> open_plugin(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return Finding{Refusal::kNotAFile, error ? error.message() : "not a regular file"};
  }
  boost::dll::shared_library library;
  try {
    // Boost's default is lazy binding, which would find a missing function only inside a task.
    library.load(path, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& thrown) {
    return Finding{Refusal::kCannotOpen, thrown.what()};
  }
  opened().push_back(library);
  if (!library.has(ALLOT_DESCRIBE_SYMBOL)) {
    return Finding{Refusal::kNoSymbol,
                   "no symbol " ALLOT_DESCRIBE_SYMBOL
                   "; include <allot/plugin.hpp>, or take the file out of the plugin folder"};
  }
  const auto describe = library.get<const allot_plugin*()>(ALLOT_DESCRIBE_SYMBOL);
  const allot_plugin* plugin = describe();
  if (auto finding = check_abi(plugin)) return *finding;
  return plugin;
}

}  // namespace allot::plugin_host
