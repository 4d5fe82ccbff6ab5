// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/plugin_library.h"

#include <boost/dll/shared_library.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin_host/access_check.h"
#include "plugin_host/architecture.h"

namespace allot::plugin_host {
namespace {

// The list is never emptied, on purpose: see the header.
std::vector<boost::dll::shared_library>& opened() {
  static auto& libraries = *new std::vector<boost::dll::shared_library>;
  return libraries;
}

// The dynamic linker's own message. Boost wraps it, and adds a meaningless errno.
std::string linker_message(const std::string& boost_message) {
  constexpr std::string_view kBefore = "dlerror system message: ";
  const auto before = boost_message.find(kBefore);
  const auto end = boost_message.rfind("): ");
  if (before == std::string::npos || end == std::string::npos) return boost_message;
  const auto begin = before + kBefore.size();
  return begin < end ? boost_message.substr(begin, end - begin) : boost_message;
}

}  // namespace

std::variant<const allot_plugin*, Finding> open_plugin(const std::string& path) {
  const auto trusted = trusted_file(path);
  if (const auto* finding = std::get_if<Finding>(&trusted)) return *finding;
  boost::dll::shared_library library;
  try {
    // Boost's default is lazy binding, which would find a missing function only inside a task.
    library.load(std::get<std::string>(trusted),
                 boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  } catch (const std::exception& thrown) {
    if (auto foreign = foreign_architecture(std::get<std::string>(trusted))) {
      return Finding{Refusal::kCannotOpen, std::move(*foreign)};
    }
    return Finding{Refusal::kCannotOpen,
                   linker_message(thrown.what()) + "; 'ldd -r FILE' shows what it needs"};
  }
  opened().push_back(library);
  if (!library.has(ALLOT_DESCRIBE_SYMBOL)) {
    return Finding{Refusal::kNoSymbol,
                   "no symbol " ALLOT_DESCRIBE_SYMBOL
                   "; include <allot/plugin.hpp>, or remove the file from the plugin folder"};
  }
  const auto describe = library.get<const allot_plugin*()>(ALLOT_DESCRIBE_SYMBOL);
  const allot_plugin* plugin = describe();
  if (auto finding = check_abi(plugin)) return *finding;
  return plugin;
}

}  // namespace allot::plugin_host
