// SPDX-License-Identifier: Apache-2.0
#include "plugin_host/abi_check.h"

#include <algorithm>
#include <cstddef>
#include <set>

#include "base/names.h"

namespace allot::plugin_host {
namespace {

constexpr std::size_t kMaxPluginName = 63;
// Plugins from before the first release had ABI numbers of their own, which meant other things.
constexpr std::uint32_t kPreReleaseMagics[] = {0x544f4c41, 0x544c4c41};

// Sizes in version 1. They never change, unlike sizeof.
constexpr std::size_t kPluginSize = offsetof(allot_plugin, handler_count) + sizeof(std::size_t);
constexpr std::size_t kHandlerSize = offsetof(allot_handler, begin_thread) + sizeof(void*);

std::optional<Finding> check_handler(const allot_handler* handler, std::size_t number,
                                     std::set<std::string_view>& types) {
  const std::string which = "handler " + std::to_string(number);
  if (handler == nullptr || handler->struct_size < kHandlerSize) {
    return Finding{Refusal::kShortHandler,
                   which + " is null or too small; set struct_size = sizeof(allot_handler)"};
  }
  const std::string_view type = view(handler->type);
  const bool by_config = type.empty() && handler->types != nullptr;
  if (!by_config && !is_offer(type)) {
    return Finding{Refusal::kBadType, which + " has the type '" + std::string(type.substr(0, 80)) +
                                          "'; " + std::string(kOffersAllowed)};
  }
  if (!by_config && !types.insert(type).second) {
    return Finding{Refusal::kTypeTwice,
                   "type '" + std::string(type) + "' is offered twice; keep one of the handlers"};
  }
  if (handler->run == nullptr) {
    return Finding{Refusal::kNoRun,
                   which + " ('" + std::string(type) + "') has no run function; set run"};
  }
  if (max_batch(*handler) > 1 && handler->run_many == nullptr) {
    return Finding{Refusal::kNoRun, which + " ('" + std::string(type) + "') takes up to " +
                                        std::to_string(handler->max_batch) +
                                        " tasks in a call and has no run_many function; set "
                                        "run_many, or max_batch = 0"};
  }
  return std::nullopt;
}

}  // namespace

bool is_type(std::string_view word) {
  return !word.empty() && word.size() <= kMaxTypeName &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

bool is_prefix(std::string_view word) {
  return word.size() >= 3 && word.substr(word.size() - 2) == ".*" &&
         is_type(word.substr(0, word.size() - 1)) && word.size() <= kMaxTypeName;
}

std::chrono::milliseconds progress_every(const allot_handler& handler) {
  using std::chrono::milliseconds;
  constexpr std::uint64_t kLeast = 1'000;
  constexpr std::uint64_t kMost = std::uint64_t{365} * 24 * 3'600 * 1'000;
  if (handler.progress_every_ms == 0) return milliseconds(0);
  return milliseconds(std::clamp(handler.progress_every_ms, kLeast, kMost));
}

std::optional<Finding> check_abi(const allot_plugin* plugin) {
  if (plugin == nullptr) {
    return Finding{Refusal::kNoDescription,
                   "allot_plugin_describe returned null; return the plugin's description"};
  }
  if (std::find(std::begin(kPreReleaseMagics), std::end(kPreReleaseMagics), plugin->magic) !=
      std::end(kPreReleaseMagics)) {
    return Finding{Refusal::kPreRelease,
                   "built for a pre-release Allot; rebuild it with the installed headers"};
  }
  if (plugin->magic != ALLOT_PLUGIN_MAGIC) {
    return Finding{Refusal::kWrongMagic, "not an Allot plugin; set magic = ALLOT_PLUGIN_MAGIC"};
  }
  if (plugin->abi_version == 0) {
    return Finding{Refusal::kNoVersion, "no ABI version; set abi_version = ALLOT_ABI_VERSION"};
  }
  if (plugin->abi_version > ALLOT_ABI_VERSION) {
    return Finding{Refusal::kTooNew,
                   "compiled for plugin ABI " + std::to_string(plugin->abi_version) +
                       ", this daemon knows up to " + std::to_string(ALLOT_ABI_VERSION) +
                       "; upgrade Allot, or compile the plugin with its headers"};
  }
  if (plugin->struct_size < kPluginSize) {
    return Finding{Refusal::kShortPlugin, "set struct_size = sizeof(allot_plugin)"};
  }
  const std::string_view name = view(plugin->name);
  if (!name.empty() && (!is_type(name) || name.size() > kMaxPluginName)) {
    return Finding{Refusal::kBadName, "plugin name '" + std::string(name.substr(0, 80)) +
                                          "'; 1 to 63 of A-Z a-z 0-9 . _ - are allowed"};
  }
  if (plugin->handler_count == 0 || plugin->handlers == nullptr) {
    return Finding{Refusal::kNoHandlers,
                   "it offers no handler; use ALLOT_HANDLER(\"type\", Class)"};
  }
  std::set<std::string_view> types;
  for (std::size_t i = 0; i < plugin->handler_count; ++i) {
    if (auto finding = check_handler(plugin->handlers[i], i + 1, types)) return finding;
  }
  return std::nullopt;
}

}  // namespace allot::plugin_host
