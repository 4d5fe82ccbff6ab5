// SPDX-License-Identifier: Apache-2.0
#include "schedule/answer.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>

#include "base/error.h"
#include "schedule/next.h"
#include "schedule/system_zone.h"

namespace allot::schedule {

namespace {

std::string listed(const std::vector<Instant>& ticks) {
  std::string list;
  for (const Instant tick : ticks) list += " " + std::to_string(tick);
  return list;
}

}  // namespace

std::string answer(const std::string& question) {
  std::istringstream words(question);
  std::string word;
  Instant after = 0;
  Instant until = 0;
  std::size_t most = 0;
  std::string zone_name;
  std::string text;
  words >> word >> after >> until >> most >> zone_name;
  if (!std::getline(words, text) || (word != "upcoming" && word != "missed")) {
    return "error a question is upcoming or missed, AFTER UNTIL MOST ZONE EXPRESSION";
  }
  try {
    const Expression expression = Expression::parse(text);
    const SystemZone zone(zone_name);
    if (word == "upcoming") return word + listed(upcoming(expression, zone, after, until, most));
    const Missed found = missed(expression, zone, after, until, most);
    return word + " " + std::to_string(found.count) + (found.at_least ? " 1 " : " 0 ") +
           (found.next ? std::to_string(*found.next) : "never") + listed(found.newest);
  } catch (const Error& error) {
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return "error " + line;
  }
}

void answer_all(std::istream& in, std::ostream& out) {
  for (std::string question; std::getline(in, question);) out << answer(question) << std::endl;
}

}  // namespace allot::schedule
