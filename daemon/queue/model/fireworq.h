// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

// What Fireworq's jobs differ in from other tasks (decision 0052).
namespace allot::queue {

// The type of every job that came by Fireworq's API. It may have so many verdicts as its headers
// allow; attempts that were lost with their worker or its host count apart.
inline constexpr std::string_view kFireworqJob = "fireworq.job";
// So many attempts of a job may be lost: it is tried again. One more, and it is dead.
inline constexpr std::uint32_t kMostLosses = 3;

[[nodiscard]] inline bool counts_verdicts(std::string_view type) {
  return type == kFireworqJob;
}

// Of the attempts that were charged, how many had a verdict. A dead task that is given a new life
// begins at 0: what its headers say of the former one is left out of them (retry_dead.sql).
[[nodiscard]] inline std::uint32_t verdicts_of(std::uint32_t attempts, std::uint32_t written) {
  return std::min(attempts, written);
}

// The run_after of the envelope in front of a payload (decision 0051), in seconds; 0: it has none.
// No text in it has a quotation mark by itself.
[[nodiscard]] inline std::uint32_t run_after_in(std::string_view payload) {
  constexpr std::string_view kKey = "\"run_after\":";
  payload = payload.substr(0, payload.find('\n'));
  const std::size_t at = payload.find(kKey);
  if (at == std::string_view::npos) return 0;
  std::uint32_t seconds = 0;
  std::from_chars(payload.data() + at + kKey.size(), payload.data() + payload.size(), seconds);
  return seconds;
}

// The type by which people know a task: for a job of Fireworq the category in its envelope, if that
// needs no escape in JSON. Valid as long as both arguments are.
[[nodiscard]] inline std::string_view shown_type(std::string_view type, std::string_view payload) {
  constexpr std::string_view kKey = "\"category\":\"";
  if (type != kFireworqJob) return type;
  const std::string_view line = payload.substr(0, payload.find('\n'));
  const std::size_t key = line.find(kKey);
  if (key == std::string_view::npos) return type;
  const std::string_view rest = line.substr(key + kKey.size());
  const std::string_view category = rest.substr(0, rest.find('"'));
  const bool plain = !category.empty() && category.find('\\') == std::string_view::npos;
  return plain ? category : type;
}

}  // namespace allot::queue
