// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gateway/ui/traffic.h"

// Current problems in words, with a link to the page of the remedy. Pure.
namespace allot::gateway::ui {

struct Problem {
  std::string key;    // stable while the problem exists
  std::string kind;   // "bad", "paused"
  std::string what;   // "Queue mail: ..."
  std::string fix{};  // the remedy, in a sentence
  std::string address{};
  std::string link{};  // text of the link to `address`
};

// The documents of the overview; nullptr if missing.
struct Seen {
  const Document* queues = nullptr;
  const Document* lags = nullptr;
  const Document* notices = nullptr;
  const Document* workers = nullptr;
  const Document* findings = nullptr;
  std::map<std::string, Traffic> traffic{};
  Workforce workforce{};
};

[[nodiscard]] std::vector<Problem> problems_of(const Visit& visit, const Seen& seen);

}  // namespace allot::gateway::ui
