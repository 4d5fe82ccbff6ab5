// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "connection.h"
#include "url.h"

// Redirect targets of jobs: pure functions.
namespace http_plugin {

inline constexpr int kMostRedirects = 10;

struct Hop {
  Url url;
  bool posts = true;  // false: a GET without a body
};

// Parses the URL of a job or of a Location. The fragment is removed, because it is for browsers
// only. Bytes beyond ASCII, spaces and the characters "<>\^`{|} are escaped. Throws
// std::invalid_argument.
[[nodiscard]] Url parse_url_of_job(std::string_view text);

// nullopt: the answer is not a redirect. Throws Trouble for an invalid target.
[[nodiscard]] std::optional<Hop> next_hop(const Hop& from, const Answer& answer);

}  // namespace http_plugin
