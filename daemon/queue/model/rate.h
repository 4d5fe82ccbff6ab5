// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace allot::queue {

// How many tasks of a queue may start (A11), by an operator's words. A number per second is kept in
// millionths, because what is counted for years must not drift.
struct Rate {
  std::uint64_t per_million_seconds = 0;
  std::uint32_t burst = 1;  // so many may start at once, after a while without any
  bool operator==(const Rate&) const = default;
};

inline constexpr std::uint64_t kMinRate = 10;               // one in 100,000 s: about a day
inline constexpr std::uint64_t kMaxRate = 100'000'000'000;  // 100,000 a second
inline constexpr std::uint32_t kMaxBurst = 1'000'000;

// The reason by which a row of queue_pause says that its queue is rated and not paused. The column
// `paused` is computed from it (sql/migrations/0001_initial.sql), so that it can never be another.
inline constexpr std::string_view kRatedOnly = "a rate limits its starts";

// "0.5", "500". nullopt: no decimal number, or one with more than six places behind the point.
// Bounds are the caller's.
[[nodiscard]] std::optional<std::uint64_t> parse_per_second(std::string_view text);
// The same as text: "0.5".
[[nodiscard]] std::string per_second_text(std::uint64_t per_million_seconds);
// "0.5/s, burst 3".
[[nodiscard]] std::string text_of(const Rate& rate);

// One row of queue_bucket: the share of the rate that it has.
struct Bucket {
  std::int64_t interval_us = 0;  // between two starts
  std::int64_t hold_us = 0;      // how far behind the clock its time may be
  std::uint32_t most = 1;        // in one grant
};

// The buckets of a rate, which are alike. Together they hold the burst, and at least 200 ms of the
// rate, or a queue whose workers look every few milliseconds would lose starts.
[[nodiscard]] std::vector<Bucket> buckets_of(const Rate& rate);

// What a holder was told by charge_rate.sql: how many tasks it may start now.
struct Granted {
  bool rated = false;  // false: the queue has no rate any more
  std::uint32_t asked = 1;
  std::uint32_t starts = 0;
  std::uint32_t bucket_no = 0;  // for give_back.sql
  std::int64_t charged_at = 0;  // likewise, by the database's clock
  std::uint32_t most = 1;       // a grant of this queue is no larger
  std::uint64_t wait_us = 0;    // from the answer until another start is free
};

// Starts of a grant that nobody made.
struct Unused {
  std::uint32_t queue_id = 0;
  std::uint32_t bucket_no = 0;
  std::int64_t charged_at = 0;
  std::uint32_t starts = 0;
};

}  // namespace allot::queue
