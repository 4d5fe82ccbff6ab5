// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

// Sleeps on a number that processes share. Neither call reports a reason: after waking up, the
// caller checks its condition itself.
namespace allot::peer {

// Wakes up to `count` sleepers on it.
void wake_sleepers(std::atomic<std::uint32_t>& word, std::size_t count);

// Sleeps while the number is `seen`, for at most `timeout`; a signal handler ends it, too.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, Nanos timeout);

}  // namespace allot::peer
