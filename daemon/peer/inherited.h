// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot::peer {

// Looks which of the descriptors of slot.h the supervisor passed on, closes them on exec (S21: no
// handler's child may hold them), and takes the other numbers, so that nothing that is opened later
// gets one of them. Must come first in main().
void note_inherited();

// True when the supervisor passed on this descriptor.
bool inherited(int fd);

}  // namespace allot::peer
