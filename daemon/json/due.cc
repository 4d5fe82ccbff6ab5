// SPDX-License-Identifier: Apache-2.0
#include "json/due.h"

#include "base/error.h"
#include "config/rows.h"
#include "json/printable.h"

namespace allot::as_json {
namespace {

constexpr std::size_t kShownText = 60;

[[noreturn]] void refuse(const std::string& field, const std::string& text, const char* why) {
  throw Error("'" + field + "' is \"" + printable(text, kShownText) + "\": " + why, kExitBadInput);
}

}  // namespace

std::chrono::microseconds parse_delay(const std::string& field, const std::string& text) {
  const auto delay = config::parse_duration(text);
  if (!delay) refuse(field, text, "not a duration, such as 300ms, 30s, 5m, 2h");
  return *delay;
}

queue::Moment parse_moment(const std::string& field, const std::string& text) {
  try {
    return config::read_moment(text);
  } catch (const Error& error) {
    refuse(field, text, error.what());
  }
}

}  // namespace allot::as_json
