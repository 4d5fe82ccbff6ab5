// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

// Sleeping on a number that processes share. Both answer nothing: whoever wakes looks for himself.
namespace allot::peer {

// Wakes up to `count` of those who sleep on it.
void wake_sleepers(std::atomic<std::uint32_t>& word, std::size_t count);

// Sleeps while the number is `seen`, for `timeout` at most; a signal handler ends it, too.
void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen, Nanos timeout);

}  // namespace allot::peer
