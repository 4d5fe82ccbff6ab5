// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace allot::peer {

// Finds the descriptors of slot.h that the supervisor passed on, and closes them on exec (S21:
// children of a handler must not hold them). It occupies the other numbers, so that later files do
// not get them. main() must call it first.
void note_inherited();

// For a program that a person started: open files under these numbers belong to the person, and
// inherited() is false for all of them.
void forget_inherited();

// True when the supervisor passed on this descriptor.
bool inherited(int fd);

}  // namespace allot::peer
