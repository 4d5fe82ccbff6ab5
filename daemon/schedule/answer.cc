// SPDX-License-Identifier: Apache-2.0
#include "schedule/answer.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <sstream>

#include "base/error.h"
#include "schedule/next.h"
#include "schedule/several.h"
#include "schedule/system_zone.h"

namespace allot::schedule {

namespace {

std::string listed(const std::vector<Instant>& ticks) {
  std::string list;
  for (const Instant tick : ticks) list += " " + std::to_string(tick);
  return list;
}

std::string text_of(const std::optional<Instant>& instant) {
  return instant ? std::to_string(*instant) : "never";
}

// Calls a function that throws an Error for an invalid expression or zone.
template <typename Compute>
std::string computed(const std::string& zone_name, const std::string& text, Compute&& compute) {
  try {
    const Expression expression = Expression::parse(text);
    const SystemZone zone(zone_name);
    return compute(expression, zone);
  } catch (const Error& error) {
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return "error " + line;
  }
}

std::string answer_of_several(const std::string& word, std::istream& words) {
  Instant after = 0;
  Instant until = 0;
  std::size_t most = 0;
  std::string zone_name;
  std::string text;
  if (!(words >> after >> until >> most >> zone_name) || !std::getline(words, text)) {
    return "error a question is " + word + " AFTER UNTIL MOST ZONE EXPRESSION";
  }
  return computed(zone_name, text, [&](const Expression& expression, const Zone& zone) {
    if (word == "upcoming") return word + listed(upcoming(expression, zone, after, until, most));
    const Missed found = missed(expression, zone, after, until, most);
    return word + " " + std::to_string(found.count) + (found.at_least ? " 1 " : " 0 ") +
           text_of(found.next) + listed(found.newest);
  });
}

}  // namespace

std::string answer(const std::string& question) {
  std::istringstream words(question);
  for (const char* word : {"upcoming", "missed"}) {
    if (!question.starts_with(std::string(word) + " ")) continue;
    std::string skipped;
    words >> skipped;
    return answer_of_several(word, words);
  }
  Instant after = 0;
  std::string zone_name;
  std::string text;
  if (!(words >> after >> zone_name) || !std::getline(words, text)) {
    return "error a question is AFTER ZONE EXPRESSION";
  }
  return computed(zone_name, text, [&](const Expression& expression, const Zone& zone) {
    const auto found = next(expression, zone, after);
    return found ? "next " + std::to_string(*found) : "never";
  });
}

void answer_all(std::istream& in, std::ostream& out) {
  for (std::string question; std::getline(in, question);) out << answer(question) << std::endl;
}

}  // namespace allot::schedule
