// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// The mark of an instance's lock file, in its second line: a random number that is drawn when the
// file is new. Every process of an instance holds the lock. So whoever has locked a file with this
// mark knows that no process lives that ever held one with it (S11).
namespace allot::peer {

// 0: there is none.
std::uint64_t lock_mark(int fd);

// Draws one if there is none. For the lock's holder. 0: errno says why it cannot be written.
std::uint64_t draw_lock_mark(int fd);

}  // namespace allot::peer
