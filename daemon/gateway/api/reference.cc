// SPDX-License-Identifier: Apache-2.0
// The route table as the reference section of docs/http.md.
#include <algorithm>
#include <string>

#include "gateway/api/problem.h"
#include "gateway/api/route.h"

namespace allot::gateway::api {
namespace {

constexpr std::string_view kBegin = "<!-- Begin: made by allot-http-doc, do not edit. -->\n";
constexpr std::string_view kEnd = "<!-- End: made by allot-http-doc. -->\n";

const char* place_of(In in) {
  switch (in) {
    case In::kPath:
      return "path";
    case In::kQuery:
      return "query";
    case In::kHeader:
      return "head";
    case In::kBody:
      return "body";
  }
  return "";
}

std::string bounds_of(const Parameter& parameter) {
  if (parameter.kind != Kind::kNumber) return {};
  return ", " + std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
}

std::string who_may(const Route& route) {
  if (!route.role) return "Needs no token.";
  return "Role `" + std::string(access::name_of(*route.role)) + "`" +
         (route.everywhere ? " for all queues." : ".");
}

std::string answers_of(const Route& route) {
  std::string text;
  for (const Answer& answer : route.answers) {
    text += (text.empty() ? "Answers " : "; ") + std::to_string(answer.status) + ": " +
            std::string(answer.what);
  }
  text += ".";
  if (route.refusals.empty()) return text;
  std::string refusals;
  for (const unsigned status : route.refusals) {
    refusals += (refusals.empty() ? "" : ", ") + std::to_string(status);
  }
  return text + " In addition to the errors of every request: " + refusals + ".";
}

std::string section_of(const Route& route) {
  std::string text = "#### `" + std::string(route.method) + " " + std::string(route.path) +
                     "`\n\n" + std::string(route.summary) + " " + who_may(route) + "\n\n";
  if (!route.parameters.empty()) {
    text += "| name | in | meaning | example |\n|---|---|---|---|\n";
    for (const Parameter& each : route.parameters) {
      text += "| `" + std::string(each.name) + "` | " + place_of(each.in) +
              (each.required ? "" : ", optional") + " | " + std::string(each.what) +
              bounds_of(each) + " | " +
              (each.example.empty() ? "" : "`" + std::string(each.example) + "`") + " |\n";
    }
    text += "\n";
  }
  return text + answers_of(route) + "\n\n";
}

}  // namespace

std::string with_reference(const std::string& page) {
  const std::size_t begin = page.find(kBegin);
  const std::size_t end = page.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::string text = page.substr(0, begin + kBegin.size()) + "\n";
  for (const Route& route : routes()) text += section_of(route);
  return text + page.substr(end);
}

}  // namespace allot::gateway::api
