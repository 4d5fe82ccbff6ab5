// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Maximum lengths of names, in bytes. The schema, the slot and the meter have room for them, and
// every door refuses a longer one, so that no name is ever cut (S79).
namespace allot {

inline constexpr std::size_t kMaxQueueName = 63;
inline constexpr std::size_t kMaxTypeName = 127;  // a class of a framework with its namespaces

}  // namespace allot
