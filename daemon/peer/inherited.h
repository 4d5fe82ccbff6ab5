// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot::peer {

// Finds out which descriptors of slot.h the supervisor passed on, and closes them on exec (S21: no
// child of a handler may hold them). It occupies the other numbers, so that no file opened later
// gets one of them. main() must call it first.
void note_inherited();

// For a program that a person started: what is open under these numbers is a file of theirs, and
// inherited() is true for none of them.
void forget_inherited();

// True when the supervisor passed on this descriptor.
bool inherited(int fd);

}  // namespace allot::peer
