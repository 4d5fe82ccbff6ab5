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

std::string answer(const std::string& question) {
  std::istringstream words(question);
  Instant after = 0;
  std::string zone_name;
  std::string text;
  if (!(words >> after >> zone_name) || !std::getline(words, text)) {
    return "error a question is AFTER ZONE EXPRESSION";
  }
  try {
    const Expression expression = Expression::parse(text);
    const SystemZone zone(zone_name);
    const auto found = next(expression, zone, after);
    return found ? "next " + std::to_string(*found) : "never";
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
