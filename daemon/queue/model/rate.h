// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::queue {

// Rate at which tasks of a queue may start (A11), set by an operator. A number per second is kept
// in millionths, because counts over years must not drift.
struct Rate {
  std::uint64_t per_million_seconds = 0;
  std::uint32_t burst = 1;  // starts allowed at once after an idle period
  bool operator==(const Rate&) const = default;
};

inline constexpr std::uint64_t kMinRate = 10;               // one in 100,000 s: about a day
inline constexpr std::uint64_t kMaxRate = 100'000'000'000;  // 100,000 a second
inline constexpr std::uint32_t kMaxBurst = 1'000'000;

// Reason in a row of queue_pause of a queue that is rated and not paused. The column `paused` is
// computed from it (sql/migrations/0001_initial.sql), so that the two always agree.
inline constexpr std::string_view kRatedOnly = "a rate limits its starts";

// "0.5", "500". nullopt: not a decimal number, or more than six decimal places. The caller checks
// bounds.
[[nodiscard]] std::optional<std::uint64_t> parse_per_second(std::string_view text);
// Inverse of parse_per_second(): "0.5".
[[nodiscard]] std::string per_second_text(std::uint64_t per_million_seconds);
// "0.5/s, burst 3".
[[nodiscard]] std::string text_of(const Rate& rate);

// One row of queue_bucket: its share of the rate.
struct Bucket {
  std::int64_t interval_us = 0;  // between two starts
  std::int64_t max_lag_us = 0;   // how far its time may lag behind the clock
  std::uint32_t max_grant = 1;   // largest grant
};

// The buckets of a rate, all alike. Together they hold the burst and at least 200 ms of the rate;
// otherwise a queue whose workers poll every few milliseconds would lose starts.
[[nodiscard]] std::vector<Bucket> buckets_of(const Rate& rate);

// Answer of charge_rate.sql: number of tasks that a holder may start now.
struct Granted {
  bool rated = false;  // false: the queue has no rate any more
  std::uint32_t asked = 1;
  std::uint32_t starts = 0;
  std::uint32_t bucket_no = 0;  // for give_back.sql
  std::int64_t charged_at = 0;  // likewise, by the database's clock
  std::uint32_t max_grant = 1;  // upper limit of a grant of this queue
  std::uint64_t wait_us = 0;    // from the reply until another start is free
};

// Starts of a grant that were not used.
struct Unused {
  std::uint32_t queue_id = 0;
  std::uint32_t bucket_no = 0;
  std::int64_t charged_at = 0;
  std::uint32_t starts = 0;
};

}  // namespace allot::queue
