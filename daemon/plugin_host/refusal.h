// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace allot::plugin_host {

// Why a plugin is refused. One test plugin provokes each of these.
enum class Refusal {
  kNotAFile,        // missing, a folder, a socket ...
  kWritableFile,    // anybody may write into it
  kFileOwner,       // belongs to neither root nor this process's user
  kWritableFolder,  // anybody may put another file in its place
  kFolderOwner,     // its folder belongs to neither of the two
  kCannotOpen,      // the dynamic linker refused it
  kNoSymbol,        // no allot_plugin_describe
  kNoDescription,   // describe returned null
  kPreRelease,      // built with headers from before the first release
  kWrongMagic,      // not an Allot plugin, or not this byte order
  kTooNew,          // compiled for an ABI that is newer than this daemon
  kNoVersion,       // ABI version 0
  kShortPlugin,     // struct_size of the description is less than version 1 has
  kBadName,         // plugin name
  kNoHandlers,
  kShortHandler,  // a handler is null, or its struct_size is too small
  kBadType,       // empty or malformed task type
  kTypeTwice,     // one type twice in one plugin
  kNoRun,         // a handler without run
  kTypeTaken,     // another plugin offers that type
  kBadConfig,     // a handler that takes its types from the configuration does not accept it
  kInitFailed,    // create of a handler failed
  kCrashes,       // it ended the process that opened it or made its handlers
  kHangs          // one of these took too long
};
inline constexpr Refusal kLastRefusal = Refusal::kHangs;

// The name as messages and documents have it.
inline const char* name_of(Refusal refusal) {
  constexpr std::array kNames = {"not a file",
                                 "world-writable file",
                                 "wrong owner",
                                 "world-writable folder",
                                 "wrong owner of the folder",
                                 "cannot be opened",
                                 "missing symbol",
                                 "no description",
                                 "pre-release ABI",
                                 "wrong magic",
                                 "ABI too new",
                                 "no ABI version",
                                 "description too small",
                                 "bad plugin name",
                                 "no handlers",
                                 "handler too small",
                                 "bad type",
                                 "duplicate type",
                                 "missing run function",
                                 "type taken",
                                 "bad configuration",
                                 "init failed",
                                 "crashes",
                                 "hangs"};
  static_assert(kNames.size() == static_cast<std::size_t>(kLastRefusal) + 1);
  return kNames.at(static_cast<std::size_t>(refusal));
}

struct Finding {
  Refusal refusal;
  std::string text;  // what is wrong and how to fix it
};

}  // namespace allot::plugin_host
