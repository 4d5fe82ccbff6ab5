// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/settings.h"

namespace allot::gateway::fireworq {

// The allowed targets of [plugins.http], so that a job with another URL is refused at once; the
// plugin checks again before it sends. Without this section other hosts dispatch, and only the form
// of the URL is checked.
class Allowed {
 public:
  explicit Allowed(const config::Plugins& plugins);

  // Throws Refused, 400, with the reason why no request can ever go to this URL.
  void check(std::string_view url) const;

 private:
  std::optional<std::set<std::string>> origins_{};
};

// "http://host:80" of a URL. Throws Refused.
[[nodiscard]] std::string origin_of(std::string_view url);

}  // namespace allot::gateway::fireworq
