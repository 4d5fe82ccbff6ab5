// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The mark of an instance's lock file, in its second line: a random number that is drawn when the
// file is new. Every process of an instance holds the lock. A process that has locked a file with
// this mark therefore knows that all earlier holders of a lock with this mark are dead (S11).
namespace allot::peer {

// 0: there is none.
std::uint64_t lock_mark(int fd);

// Draws one if there is none. For the lock's holder. 0: it cannot be written, errno has the reason.
std::uint64_t draw_lock_mark(int fd);

}  // namespace allot::peer
