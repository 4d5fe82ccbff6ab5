// SPDX-License-Identifier: Apache-2.0
#include "config/rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <numeric>

namespace allot::config {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
constexpr std::array<Unit, 4> kUnits = {{{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};

std::string range_text(Kind kind, std::int64_t min, std::int64_t max) {
  if (kind != Kind::kCount && kind != Kind::kWeights) return joined(words_of(kind));
  return std::to_string(min) + " to " + std::to_string(max);
}
std::string range_text(Kind, milliseconds min, milliseconds max) {
  return text_of(min) + " to " + text_of(max);
}

std::vector<Row> make_rows() {
  return {
#define ALLOT_ROW(section, object, key, type, initial, min, max, unit, sentence) \
  Row{section,                                                                   \
      Kind::k##type,                                                             \
      #key,                                                                      \
      written(Kind::k##type, (object).key),                                      \
      range_text(Kind::k##type, min, max),                                       \
      unit,                                                                      \
      sentence},
#define ALLOT_DATABASE(...) ALLOT_ROW(Section::kDatabase, Database(), __VA_ARGS__)
#define ALLOT_WAKE(...) ALLOT_ROW(Section::kWake, Wake(), __VA_ARGS__)
#define ALLOT_DAEMON(...) ALLOT_ROW(Section::kDaemon, Daemon(), __VA_ARGS__)
#define ALLOT_QUEUE(...) ALLOT_ROW(Section::kQueue, Queue(), __VA_ARGS__)
#define ALLOT_TYPE(...) ALLOT_ROW(Section::kType, Type(), __VA_ARGS__)
#define ALLOT_POOL(...) ALLOT_ROW(Section::kPool, Pool(), __VA_ARGS__)
#define ALLOT_SCHEDULE(...) ALLOT_ROW(Section::kSchedule, Schedule(), __VA_ARGS__)
#define ALLOT_PLUGINS(...) ALLOT_ROW(Section::kPlugins, Plugins(), __VA_ARGS__)
#define ALLOT_NOTICES(...) ALLOT_ROW(Section::kNotices, Notices(), __VA_ARGS__)
#define ALLOT_METRICS(...) ALLOT_ROW(Section::kMetrics, Metrics(), __VA_ARGS__)
#define ALLOT_GATEWAY(...) ALLOT_ROW(Section::kGateway, Gateway(), __VA_ARGS__)
#define ALLOT_GATEWAY_FIREWORQ(...) \
  ALLOT_ROW(Section::kGatewayFireworq, GatewayFireworq(), __VA_ARGS__)
#define ALLOT_GATEWAY_TOKEN(...) ALLOT_ROW(Section::kGatewayToken, GatewayToken(), __VA_ARGS__)
#define ALLOT_GATEWAY_USER(...) ALLOT_ROW(Section::kGatewayUser, GatewayUser(), __VA_ARGS__)
#define ALLOT_LOGGING(...) ALLOT_ROW(Section::kLogging, Logging(), __VA_ARGS__)
#include "config/settings.def"
#undef ALLOT_ROW
  };
}

// Levenshtein distance: inserted, deleted or replaced characters.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

// True if `text` has a digit where `pattern` has a 0, and otherwise equals the pattern.
bool fits(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(),
                    [](char c, char p) { return p == '0' ? c >= '0' && c <= '9' : c == p; });
}

// The text must consist of digits there.
int number_at(std::string_view text, std::size_t at, std::size_t size) {
  int number = 0;
  for (const char c : text.substr(at, size)) number = number * 10 + (c - '0');
  return number;
}

}  // namespace

std::string written(Kind, const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out.append("\\u00").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 0xfU]);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string written(Kind, std::uint32_t number) {
  return std::to_string(number);
}

std::string written(Kind, bool flag) {
  return flag ? "true" : "false";
}

std::string written(Kind kind, const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + written(kind, text);
  return "[" + out + "]";
}

std::string written(Kind kind, const std::map<std::string, std::uint32_t>& weights) {
  std::string out;
  for (const auto& [name, weight] : weights) {
    out += (out.empty() ? " " : ", ") + written(kind, name) + " = " + written(kind, weight);
  }
  return out.empty() ? "{}" : "{" + out + " }";
}

std::string written(Kind kind, milliseconds duration) {
  const bool computed = kind == Kind::kAutoDuration && duration.count() == 0;
  return '"' + (computed ? std::string() : text_of(duration)) + '"';
}

std::string written(Kind kind, const std::vector<milliseconds>& durations) {
  std::vector<std::string> texts;
  for (const milliseconds duration : durations) texts.push_back(text_of(duration));
  return written(kind, texts);
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kText:
    case Kind::kSecret:
    case Kind::kPayload:
      return "text";
    case Kind::kPath:
      return "path";
    case Kind::kName:
      return "name";
    case Kind::kLevel:
    case Kind::kTls:
    case Kind::kFormat:
    case Kind::kPlacement:
    case Kind::kLate:
    case Kind::kOverlap:
    case Kind::kGrant:
      return "word";
    case Kind::kTime:
      return "date or time";
    case Kind::kCount:
      return "whole number";
    case Kind::kDuration:
    case Kind::kAutoDuration:
      return "duration";
    case Kind::kDurations:
      return "list of durations";
    case Kind::kFlag:
      return "true or false";
    case Kind::kNames:
      return "list of names";
    case Kind::kWeights:
      return "names with whole numbers";
  }
  return "value";
}

const std::vector<std::string_view>& words_of(Kind kind) {
  static const std::vector<std::string_view> levels = {"debug", "info", "warn", "error"};
  static const std::vector<std::string_view> tls = {"off", "required", "verify"};
  static const std::vector<std::string_view> formats = {"auto", "text", "json", "journald"};
  static const std::vector<std::string_view> placements = {"spread", "ordered", "limited", "fair"};
  static const std::vector<std::string_view> lates = {"once", "skip", "all"};
  static const std::vector<std::string_view> overlaps = {"allow", "skip", "wait"};
  static const std::vector<std::string_view> grants = {"none", "read", "submit", "operate"};
  static const std::vector<std::string_view> none;
  switch (kind) {
    case Kind::kLevel:
      return levels;
    case Kind::kTls:
      return tls;
    case Kind::kFormat:
      return formats;
    case Kind::kPlacement:
      return placements;
    case Kind::kLate:
      return lates;
    case Kind::kOverlap:
      return overlaps;
    case Kind::kGrant:
      return grants;
    default:
      return none;
  }
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string_view header_of(Section section) {
  switch (section) {
    case Section::kDatabase:
      return "[database]";
    case Section::kWake:
      return "[wake]";
    case Section::kDaemon:
      return "[daemon]";
    case Section::kQueue:
      return "[queues.NAME]";
    case Section::kType:
      return "[types.NAME]";
    case Section::kPool:
      return "[pools.NAME]";
    case Section::kSchedule:
      return "[schedules.NAME]";
    case Section::kPlugins:
      return "[plugins]";
    case Section::kNotices:
      return "[notices]";
    case Section::kMetrics:
      return "[metrics]";
    case Section::kGateway:
      return "[gateway]";
    case Section::kGatewayFireworq:
      return "[gateway.fireworq]";
    case Section::kGatewayToken:
      return "[gateway.tokens.NAME]";
    case Section::kGatewayUser:
      return "[gateway.users.NAME]";
    case Section::kLogging:
      return "[logging]";
  }
  return "[?]";
}

const std::vector<Row>& rows() {
  static const std::vector<Row> the_rows = make_rows();
  return the_rows;
}

std::optional<milliseconds> parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  constexpr Unit kDay{"d", 86'400'000};  // never printed: 24h is as clear, and the documents use it
  if (text == kDay.name && number <= std::numeric_limits<std::int64_t>::max() / kDay.ms) {
    return milliseconds(number * kDay.ms);
  }
  for (const Unit& unit : kUnits) {
    if (text != unit.name) continue;
    if (number > std::numeric_limits<std::int64_t>::max() / unit.ms) return std::nullopt;
    return milliseconds(number * unit.ms);
  }
  return std::nullopt;
}

std::optional<std::chrono::sys_seconds> parse_time(std::string_view text) {
  using namespace std::chrono;
  const std::string_view clock = text.substr(std::min<std::size_t>(text.size(), 10));
  if (!fits(text.substr(0, 10), "0000-00-00")) return std::nullopt;
  const year_month_day day(year(number_at(text, 0, 4)),
                           month(static_cast<unsigned>(number_at(text, 5, 2))),
                           std::chrono::day(static_cast<unsigned>(number_at(text, 8, 2))));
  if (!day.ok()) return std::nullopt;
  if (clock.empty()) return sys_days(day);
  if (!fits(clock.substr(0, 9), "T00:00:00")) return std::nullopt;
  const int hour = number_at(clock, 1, 2);
  const int minute = number_at(clock, 4, 2);
  const int second = number_at(clock, 7, 2);
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const sys_seconds time = sys_days(day) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
                           std::chrono::seconds(second);
  const std::string_view zone = clock.substr(9);
  if (zone == "Z") return time;
  if (!fits(zone, "+00:00") && !fits(zone, "-00:00")) return std::nullopt;
  if (number_at(zone, 1, 2) > 23 || number_at(zone, 4, 2) > 59) return std::nullopt;
  const std::chrono::minutes offset(number_at(zone, 1, 2) * 60 + number_at(zone, 4, 2));
  return zone.front() == '-' ? time + offset : time - offset;
}

std::string text_of(milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (ms % unit.ms == 0) return std::to_string(ms / unit.ms) + std::string(unit.name);
  }
  return std::to_string(ms) + "ms";
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t here = distance(word, candidate);
    if (here >= best_distance || here >= candidate.size()) continue;
    best = candidate;
    best_distance = here;
  }
  return best;
}

}  // namespace allot::config
