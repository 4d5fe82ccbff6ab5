// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace allot::queue {

inline constexpr std::size_t kMostErrorText = 64 << 10;
inline constexpr std::size_t kMostMessage = 1 << 10;
inline constexpr std::size_t kMostFault = 255;

// The stored part of a handler's error text: valid UTF-8 of at most `most` bytes. An invalid byte
// becomes U+FFFD: the server would refuse it, and a verdict must not fail because of its message.
std::string error_text(std::string_view raw, std::size_t most = kMostErrorText);

// Cause and place of a failure: the text by which failed attempts and dead tasks are grouped.

// An error text without the parts that differ from task to task: its first line, with '#' for each
// word that has a digit and '...' for text in quotes; at most 200 bytes.
[[nodiscard]] std::string error_pattern(std::string_view error);

// The stored fault of an error, without parts that differ from task to task or between two
// deployments: "ValueError in send (app/mail.py)". If `fault` is empty: the pattern of the error.
[[nodiscard]] std::string fault_of(std::string_view error, std::string_view fault);

inline constexpr std::size_t kGroupDigits = 12;

// Group of a failed attempt or a dead task: one hash of queue, type, cause and fault, and the last
// two for people.
struct ErrorGroup {
  std::string group;
  std::string sample;
};
// The hash equals the column `error_group`, which the server computes. `fault` as stored.
[[nodiscard]] ErrorGroup error_group(std::uint32_t queue_id, std::string_view type,
                                     std::string_view cause, std::string_view fault);

}  // namespace allot::queue
