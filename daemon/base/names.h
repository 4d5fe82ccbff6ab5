// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// Maximum lengths of names, in bytes. The schema, the slot and the meter have room for them, and
// every entry point refuses a longer name, so that a name is never cut (S79).
namespace allot {

inline constexpr std::size_t kMaxQueueName = 63;
inline constexpr std::size_t kMaxTypeName = 127;  // a framework class with its namespaces

}  // namespace allot
