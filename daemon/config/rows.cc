// SPDX-License-Identifier: Apache-2.0
#include "config/rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <regex>

#include "base/error.h"

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

template <typename... Sections>
std::vector<Row> make_rows() {
  std::vector<Row> rows;
  const auto add = [&rows](const auto& plain) {
    plain.each_key(plain, [&](const Key& key, const auto& initial, auto min, auto max) {
      rows.push_back({plain.kHeader, key.kind, key.name, written(key.kind, initial),
                      range_text(key.kind, min, max), key.unit, key.sentence});
    });
  };
  (add(Sections()), ...);
  return rows;
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
  if (!words_of(kind).empty()) return "word";
  switch (kind) {
    case Kind::kPath:
      return "path";
    case Kind::kName:
      return "name";
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
    default:
      return "text";
  }
}

const std::vector<std::string_view>& words_of(Kind kind) {
  static const std::map<Kind, std::vector<std::string_view>> kWords = {
      {Kind::kLevel, {"debug", "info", "warn", "error"}},
      {Kind::kTls, {"off", "required", "verify"}},
      {Kind::kFormat, {"auto", "text", "json", "journald"}},
      {Kind::kPlacement, {"spread", "ordered", "limited", "fair"}},
      {Kind::kLate, {"once", "skip", "all"}},
      {Kind::kOverlap, {"allow", "skip", "wait"}},
      {Kind::kGrant, {"none", "read", "submit", "operate"}}};
  static const std::vector<std::string_view> kNone;
  const auto found = kWords.find(kind);
  return found == kWords.end() ? kNone : found->second;
}

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> the_rows =
      make_rows<Database, Wake, Daemon, Queue, Type, Pool, Schedule, Plugins, Notices, Metrics,
                Gateway, GatewayFireworq, GatewayToken, GatewayUser, Logging>();
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

Moment read_moment(const std::string& text) {
  using namespace std::chrono;
  static const std::regex kForm(
      R"((\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d)))");
  constexpr std::size_t kMost = 64;  // std::regex recurses for each character
  std::smatch at;
  if (text.size() > kMost || !std::regex_match(text, at, kForm)) {
    throw Error(
        "not a time with a zone, such as 2026-12-24T18:00:00Z or 2026-12-24T19:00:00+01:00");
  }
  const auto number = [&](std::size_t group) { return std::stoi("0" + at[group].str()); };
  const year_month_day day(year(number(1)), month(static_cast<unsigned>(number(2))),
                           std::chrono::day(static_cast<unsigned>(number(3))));
  if (!day.ok() || number(4) > 23 || number(5) > 59 || number(6) > 60 || number(9) > 23 ||
      number(10) > 59) {
    throw Error("no such day or time");
  }
  std::string fraction = at[7].str();
  fraction.resize(6, '0');
  const auto offset = std::chrono::hours(number(9)) + std::chrono::minutes(number(10));
  return sys_days(day) + std::chrono::hours(number(4)) + std::chrono::minutes(number(5)) +
         std::chrono::seconds(number(6)) + microseconds(std::stoi(fraction)) -
         (at[8] == "-" ? -offset : offset);
}

std::optional<std::chrono::sys_seconds> parse_time(const std::string& text) {
  constexpr std::size_t kDate = std::string_view("2027-01-31").size();
  try {
    return std::chrono::floor<seconds>(
        read_moment(text.size() == kDate ? text + "T00:00:00Z" : text));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string text_of(milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms == 0) return "0s";
  for (const Unit& unit : kUnits) {
    if (ms % unit.ms == 0) return std::to_string(ms / unit.ms) + std::string(unit.name);
  }
  return std::to_string(ms) + "ms";
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

bool is_word(std::string_view text, std::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != also.npos;
  });
}

}  // namespace allot::config
