// SPDX-License-Identifier: Apache-2.0
#include "allow_list.h"

#include <algorithm>
#include <stdexcept>

#include "base/mutant.h"

namespace http_plugin {

namespace mutant = allot::mutant;

AllowList::AllowList(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    try {
      entries_.push_back(parse_origin(entry));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("allow: '" + entry + "': " + error.what() +
                                  "; write scheme, host and port: \"https://example.com\", "
                                  "\"http://10.1.2.3:8080\"");
    }
  }
}

bool AllowList::has(const Origin& origin) const {
  return mutant::removed("http_allow_origin") ||
         std::find(entries_.begin(), entries_.end(), origin) != entries_.end();
}

std::string AllowList::refusal(const Origin& origin, const Address& address) const {
  const std::string why = special_purpose_of(address);
  if (why.empty() || mutant::removed("http_allow_address")) return {};
  const Origin named = {origin.tls, text_of(address), origin.port};
  if (has(named)) return {};
  return text_of(address) + " is not globally reachable (" + why +
         "), and no entry of allow names " + text_of(named);
}

}  // namespace http_plugin
