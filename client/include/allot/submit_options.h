// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace allot {

using Moment = std::chrono::sys_time<std::chrono::microseconds>;

// How a payload is written in the database. Handlers see what it was before.
enum class Compression { kNone, kGzip, kZstd };

// What a submitter may ask for beside queue, type and payload: here, in the flags of `allot submit`
// and in the fields of its NDJSON the names are the same. Append only: a field that is added stands
// last, with a default that means what was before it.
struct SubmitOptions {
  // The class that it waits in: of 0 to 3 the lower ones run first.
  std::uint32_t prio = 1;
  // When it may start at the earliest, by the database's clock: so long after its submission, or
  // then. A moment that has passed is now.
  std::chrono::microseconds delay{0};
  std::optional<Moment> run_at{};
  // At most one task of the queue has this key: from its submission until so long after its end. A
  // submission that comes meanwhile is answered with that task. 1 to 255 bytes.
  std::optional<std::string> unique_key{};
  std::chrono::microseconds unique_for = std::chrono::minutes(5);
  // What its queue places it by, unless that is spread: its tasks run in order, are limited to
  // max_running at a time, or have their fair share. 1 to 255 bytes.
  std::optional<std::string> partition_key{};
  // One that has not begun so long after its submission (0: it may wait for ever), or by then, is
  // dead.
  std::chrono::microseconds expires_in{0};
  std::optional<Moment> expires_at{};
  // A payload of more bytes is compressed. Nothing, or 0: never.
  std::optional<std::uint64_t> compress_above{};
  // How the payload is compressed already.
  Compression compression = Compression::kNone;
};

}  // namespace allot
