// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gateway/ui/traffic.h"

// What is wrong, in words, with the page on which it is fixed. Pure.
namespace allot::gateway::ui {

struct Problem {
  std::string key;    // the same as long as it is the same problem
  std::string kind;   // "bad", "paused"
  std::string what;   // "Queue mail: ..."
  std::string fix{};  // what to do, in a sentence
  std::string address{};
  std::string link{};  // the text of the link to `address`
};

// The documents of the overview, nullptr where one is missing.
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
