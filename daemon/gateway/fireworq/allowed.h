// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "config/settings.h"

namespace allot::gateway::fireworq {

// The targets of [plugins.http], so that a job whose URL leads to no other place is refused at
// once. The plugin looks again before it sends. Where this configuration has no such section,
// other hosts dispatch, and only the form of a URL is looked at.
class Allowed {
 public:
  explicit Allowed(const config::Plugins& plugins);

  // Throws Refused, 400, which says why no request can ever go to that URL.
  void look_at(std::string_view url) const;

 private:
  std::optional<std::set<std::string>> origins_{};
};

// "http://host:80" of a URL. Throws Refused.
[[nodiscard]] std::string origin_of(std::string_view url);

}  // namespace allot::gateway::fireworq
