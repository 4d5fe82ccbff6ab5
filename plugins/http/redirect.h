// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connection.h"
#include "url.h"

// Where an answer sends a request, for those that follow: pure functions.
namespace http_plugin {

inline constexpr int kMostRedirects = 10;

struct Hop {
  Url url;
  bool posts = true;  // else it is a GET without a body
};

// The URL of a job or of a Location. What stands behind a # is for browsers, and no server sees it.
// Bytes beyond ASCII, spaces and the characters "<>\^`{|} are escaped.
// Throws std::invalid_argument.
[[nodiscard]] Url parse_url_of_job(std::string_view text);

// nullopt: the answer is no redirect. Throws Trouble where it leads nowhere.
[[nodiscard]] std::optional<Hop> next_hop(const Hop& from, const Answer& answer);

}  // namespace http_plugin
