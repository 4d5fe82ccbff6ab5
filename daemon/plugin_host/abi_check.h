// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "allot/plugin.h"

namespace allot::plugin_host {

// Why a plugin is not used. One test plugin provokes each.
enum class Refusal {
  kNotAFile,       // missing, a folder, a socket ...
  kCannotOpen,     // the dynamic linker's word
  kNoSymbol,       // no allot_plugin_describe
  kNoDescription,  // describe returned null
  kWrongMagic,     // not an Allot plugin, or not this byte order
  kTooNew,         // compiled for an ABI that this daemon does not know
  kNoVersion,      // ABI version 0
  kShortPlugin,    // struct_size of the description is less than version 1 has
  kBadName,        // plugin name
  kNoHandlers,
  kShortHandler,  // a handler is null, or its struct_size is too small
  kBadType,       // empty or malformed task type
  kTypeTwice,     // one type twice in one plugin
  kNoRun,         // a handler without run
  kTypeTaken,     // another plugin offers that type
  kInitFailed     // create of a handler failed
};

const char* name_of(Refusal refusal);

struct Finding {
  Refusal refusal;
  std::string text;  // what is wrong and how to mend it
};

// Pure: looks only at the description, calls nothing. nullopt: the plugin is good.
std::optional<Finding> check_abi(const allot_plugin* plugin);

inline std::string_view view(const allot_str& text) {
  return text.data == nullptr ? std::string_view{} : std::string_view{text.data, text.size};
}

}  // namespace allot::plugin_host
