// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace allot::queue {

using Moment = std::chrono::sys_time<std::chrono::microseconds>;

// Compression of a payload in the database. Handlers see it uncompressed.
enum class Compression { kNone, kGzip, kZstd };

// Optional fields of a submission. The names are the same in the flags of `allot submit`, in its
// NDJSON fields and in the client library, whose allot/submit_options.h explains them.
struct SubmitOptions {
  std::uint32_t prio = 1;
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  std::optional<std::string> unique_key{};
  std::chrono::microseconds unique_for = std::chrono::minutes(5);
  std::optional<std::string> partition_key{};
  std::chrono::microseconds expires_in{0};  // 0: no limit
  std::optional<Moment> expires_at{};
  std::optional<std::uint64_t> compress_above{};  // nullopt or 0: never
  Compression compression = Compression::kNone;   // already applied to the payload
  std::optional<std::uint32_t> max_attempts{};
  std::optional<std::uint32_t> max_losses{};
  std::string label{};
  std::string traceparent{};
  std::string tracestate{};
  std::optional<std::chrono::milliseconds> time_limit{};

  bool operator==(const SubmitOptions&) const = default;
};

}  // namespace allot::queue
