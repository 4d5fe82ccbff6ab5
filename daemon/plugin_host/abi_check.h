// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "allot/plugin.h"
#include "plugin_host/refusal.h"

namespace allot::plugin_host {

// Pure: looks only at the description, calls nothing. nullopt: the plugin is good, and each of its
// structs has at least the fields of version 1. One that a later version appends is there only
// where struct_size covers it (plugin-api/ABI.md).
std::optional<Finding> check_abi(const allot_plugin* plugin);

// 1 to 127 of A-Z a-z 0-9 . _ -
bool is_type(std::string_view word);
// "mail.*": a name, a dot, and a star that stands for at least one byte more; at most 127 in all.
bool is_prefix(std::string_view word);
// True for a type or a prefix, which are what a handler may offer.
inline bool is_offer(std::string_view word) {
  return is_type(word) || is_prefix(word);
}
inline constexpr std::string_view kOffersAllowed =
    "1 to 127 of A-Z a-z 0-9 . _ - are allowed, or a prefix followed by \".*\"";

// How many tasks it takes in one call; 1: never several.
inline std::uint64_t max_batch(const allot_handler& handler) {
  return handler.max_batch == 0 ? 1 : handler.max_batch;
}

// How often a run of this handler promises to make progress, between a second and a year; 0: it
// promises nothing.
std::chrono::milliseconds progress_every(const allot_handler& handler);

inline std::string_view view(const allot_str& text) {
  return text.data == nullptr ? std::string_view{} : std::string_view{text.data, text.size};
}

}  // namespace allot::plugin_host
