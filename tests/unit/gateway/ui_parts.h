// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "gateway/ui/page.h"
#include "gateway/ui/session.h"

// Documents and visits for tests of pages.
namespace allot::gateway::ui {

inline const Seconds kNow{std::chrono::seconds(1'790'000'000)};

inline Visit visit() {
  Visit visit;
  visit.root = "/ui/";
  access::Reach all{true, {}};
  visit.caller = access::Caller("token:all", {all, all, all});
  visit.now = kNow;
  return visit;
}

inline Document document(json body) {
  return {200, std::move(body)};
}

inline std::string minute_at(Seconds at) {
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text;
}

inline json minute(Seconds at, std::uint64_t done, std::uint64_t dead, const json& backlog) {
  return {{"at", minute_at(at)},   {"queue", "mail"},    {"done", done},
          {"dead", dead},          {"retried", 0},       {"out", done + dead},
          {"in", 2 * done + dead}, {"backlog", backlog}, {"estimated", true}};
}

}  // namespace allot::gateway::ui
