// SPDX-License-Identifier: Apache-2.0
#include "queue/model/headers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <set>
#include <system_error>

#include "base/checksum.h"

namespace allot::queue {
namespace {

// Positions in "VV-TTTTTTTTTTTTTTTTTTTTTTTTTTTTTTTT-PPPPPPPPPPPPPPPP-FF".
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kTraceSize = 32;
constexpr std::size_t kParentAt = kTraceAt + kTraceSize + 1;
constexpr std::size_t kParentSize = 16;
constexpr std::size_t kFlagsAt = kParentAt + kParentSize + 1;
constexpr std::size_t kWhole = kFlagsAt + 2;

// sampled and random: unknown bits are cleared when a trace is passed on.
constexpr unsigned kKnownFlags = 3;
constexpr std::size_t kMostMembers = 32;
constexpr std::size_t kMostKey = 256;
constexpr std::size_t kMostValue = 256;

constexpr std::string_view kLabelName = "label=";
constexpr std::string_view kMaxAttemptsName = "max_attempts=";
constexpr std::string_view kMaxLossesName = "max_losses=";
constexpr std::string_view kTimeLimitName = "time_limit=";  // milliseconds
constexpr std::string_view kParentName = "traceparent=";
constexpr std::string_view kStateName = "tracestate=";

// The longest state that fits with all other headers.
constexpr std::size_t kMostState =
    kMaxHeaders - (kLabelName.size() + kMaxLabel + 1) - (kMaxAttemptsName.size() + 6 + 1) -
    (kMaxLossesName.size() + 6 + 1) - (kTimeLimitName.size() + 10 + 1) -
    (kParentName.size() + kWhole + 1) - kStateName.size() - (1 + kVerdictsName.size() + 6);
static_assert(kUnstartedName.size() + 3 <= kVerdictsName.size() + 6);

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

unsigned hex_value(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

std::string joined(std::string_view trace, std::string_view parent, unsigned flags) {
  std::array<char, 3> digits{};
  std::snprintf(digits.data(), digits.size(), "%02x", flags & kKnownFlags);
  std::string text = "00-";
  text.append(trace).append("-").append(parent).append("-").append(digits.data());
  return text;
}

// Empty: invalid. A later version may have more after the four fields, with the same meaning of
// these; version 00 is passed on.
std::string parent_of(std::string_view text) {
  if (text.size() < kWhole) return {};
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(kTraceAt, kTraceSize);
  const std::string_view parent = text.substr(kParentAt, kParentSize);
  const std::string_view flags = text.substr(kFlagsAt, 2);
  const bool shaped = text[2] == '-' && text[kParentAt - 1] == '-' && text[kFlagsAt - 1] == '-' &&
                      is_hex(version) && is_hex(trace) && is_hex(parent) && is_hex(flags);
  if (!shaped || version == "ff" || is_zero(trace) || is_zero(parent)) return {};
  if (version == "00" && text.size() != kWhole) return {};
  if (text.size() > kWhole && text[kWhole] != '-') return {};
  return joined(trace, parent, hex_value(flags));
}

bool is_key(std::string_view key) {
  const auto known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '*' ||
           c == '/' || c == '@';
  };
  if (key.empty() || key.size() > kMostKey || !std::all_of(key.begin(), key.end(), known)) {
    return false;
  }
  const bool letter = key[0] >= 'a' && key[0] <= 'z';
  const bool digit = key[0] >= '0' && key[0] <= '9';
  return (letter || digit) && std::count(key.begin(), key.end(), '@') <= 1;
}

bool is_value(std::string_view value) {
  return !value.empty() && value.size() <= kMostValue && value.back() != ' ' &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Empty: invalid or too long. One bad member invalidates all of them, as the standard requires.
std::string state_of(std::string_view text) {
  std::set<std::string_view> keys;
  std::string state;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view member = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos) return {};
    const std::string_view key = member.substr(0, equals);
    if (!is_key(key) || !is_value(member.substr(equals + 1)) || !keys.insert(key).second) return {};
    if (!state.empty()) state += ',';
    state.append(member);
    if (keys.size() > kMostMembers || state.size() > kMostState) return {};
  }
  return state;
}

// 0: not a number up to `most`.
template <typename Number>
Number number_of(std::string_view text, Number most) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value <= most ? value : 0;
}

std::uint32_t attempts_of(std::string_view text) {
  return number_of(text, kMostAttempts);
}

std::chrono::milliseconds time_limit_of(std::string_view text) {
  using std::chrono::milliseconds;
  const milliseconds limit(number_of<std::uint64_t>(text, kMostTimeLimit.count()));
  return limit < kLeastTimeLimit ? milliseconds(0) : limit;
}

}  // namespace

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLabel &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

std::string_view Trace::id() const {
  return parent.empty() ? std::string_view()
                        : std::string_view(parent).substr(kTraceAt, kTraceSize);
}

Trace trace_of(std::string_view parent, std::string_view state) {
  Trace trace{parent_of(trimmed(parent)), {}};
  if (!trace.parent.empty()) trace.state = state_of(state);
  return trace;
}

// Hash of "TASK/ATTEMPT"; never 0, which is not a valid span id.
std::string span_id(std::string_view task, std::uint32_t attempt) {
  std::string id = Checksum(std::string(task) + "/" + std::to_string(attempt)).hex(kParentSize);
  if (is_zero(id)) id.back() = '1';
  return id;
}

Trace child_of(const Trace& trace, std::string_view task, std::uint32_t attempt) {
  if (trace.parent.empty()) return {};
  const std::string_view flags = std::string_view(trace.parent).substr(kFlagsAt, 2);
  return {joined(trace.id(), span_id(task, attempt), hex_value(flags)), trace.state};
}

std::string Headers::text() const {
  std::string lines;
  const auto add = [&lines](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (!lines.empty()) lines += '\n';
    lines.append(name).append(value);
  };
  add(kLabelName, label);
  if (max_attempts != 0) add(kMaxAttemptsName, std::to_string(max_attempts));
  if (max_losses != 0) add(kMaxLossesName, std::to_string(max_losses));
  if (time_limit.count() != 0) add(kTimeLimitName, std::to_string(time_limit.count()));
  add(kParentName, trace.parent);
  add(kStateName, trace.state);
  if (unstarted != 0) add(kUnstartedName, std::to_string(unstarted));
  if (verdicts != 0) add(kVerdictsName, std::to_string(verdicts));
  return lines;
}

Headers read_headers(std::string_view stored) {
  Headers headers;
  std::string_view parent;
  std::string_view state;
  while (!stored.empty()) {
    const std::string_view line = stored.substr(0, stored.find('\n'));
    stored.remove_prefix(std::min(line.size() + 1, stored.size()));
    if (line.starts_with(kMaxAttemptsName)) {
      headers.max_attempts = attempts_of(line.substr(kMaxAttemptsName.size()));
    } else if (line.starts_with(kMaxLossesName)) {
      headers.max_losses = attempts_of(line.substr(kMaxLossesName.size()));
    } else if (line.starts_with(kLabelName)) {
      const std::string_view label = line.substr(kLabelName.size());
      if (is_label(label)) headers.label = label;
    } else if (line.starts_with(kTimeLimitName)) {
      headers.time_limit = time_limit_of(line.substr(kTimeLimitName.size()));
    } else if (line.starts_with(kParentName)) {
      parent = line.substr(kParentName.size());
    } else if (line.starts_with(kStateName)) {
      state = line.substr(kStateName.size());
    } else if (line.starts_with(kUnstartedName)) {
      headers.unstarted = attempts_of(line.substr(kUnstartedName.size()));
    } else if (line.starts_with(kVerdictsName)) {
      headers.verdicts = attempts_of(line.substr(kVerdictsName.size()));
    }
  }
  headers.trace = trace_of(parent, state);
  return headers;
}

}  // namespace allot::queue
