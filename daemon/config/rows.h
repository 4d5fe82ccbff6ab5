// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.h"

// The rows of settings.def as data, for messages and documents.
namespace allot::config {

enum class Kind {
  kText,
  kSecret,
  kPath,
  kName,
  kLevel,
  kTls,
  kFormat,
  kPlacement,
  kLate,
  kOverlap,
  kGrant,
  kTime,
  kPayload,
  kCount,
  kDuration,
  kAutoDuration,
  kDurations,
  kFlag,
  kNames,
  kWeights
};

// Name of the kind for people: "whole number", "duration".
[[nodiscard]] std::string_view name_of(Kind kind);

// A value in the syntax of the file, which is valid JSON: "text", 5, true, ["a", "b"], "30s". Only
// weights are not: { "a" = 3 }.
[[nodiscard]] std::string written(Kind kind, const std::string& text);
[[nodiscard]] std::string written(Kind kind, std::uint32_t number);
[[nodiscard]] std::string written(Kind kind, bool flag);
[[nodiscard]] std::string written(Kind kind, const std::vector<std::string>& texts);
[[nodiscard]] std::string written(Kind kind, const std::map<std::string, std::uint32_t>& weights);
[[nodiscard]] std::string written(Kind kind, milliseconds duration);
[[nodiscard]] std::string written(Kind kind, const std::vector<milliseconds>& durations);

// Valid words for a value of this kind; empty if the kind is not a word.
[[nodiscard]] const std::vector<std::string_view>& words_of(Kind kind);

// "debug, info, warn or error".
[[nodiscard]] std::string joined(const std::vector<std::string_view>& words);

enum class Section {
  kDatabase,
  kWake,
  kDaemon,
  kQueue,
  kType,
  kPool,
  kSchedule,
  kPlugins,
  kNotices,
  kMetrics,
  kGateway,
  kGatewayFireworq,
  kGatewayToken,
  kGatewayUser,
  kLogging
};

// Section header in the file: "[queues.NAME]".
[[nodiscard]] std::string_view header_of(Section section);

struct Row {
  Section section;
  Kind kind;
  std::string_view key;
  std::string initial;  // the default, as written in the file
  std::string range;    // "1 to 4096", "off or on"; empty if unlimited
  std::string_view unit;
  std::string_view sentence;
};

// All rows, in the order of settings.def.
[[nodiscard]] const std::vector<Row>& rows();

// "90s" -> 90'000 ms. Accepts only digits and one of ms, s, m, h, d; no value on overflow.
[[nodiscard]] std::optional<milliseconds> parse_duration(std::string_view text);

// RFC 3339: "2027-01-31", which means its midnight, "2027-01-31T18:00:00Z", or with +02:00. No
// value without a time zone.
[[nodiscard]] std::optional<std::chrono::sys_seconds> parse_time(std::string_view text);

// The shortest form with a whole number: "90s", "2m", "0s".
[[nodiscard]] std::string text_of(milliseconds duration);

// The candidate most similar to `word`, or an empty view.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       const std::vector<std::string_view>& candidates);

}  // namespace allot::config
