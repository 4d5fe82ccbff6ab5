// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace allot::peer {

// Maps a part of a file for reading and writing, with all of its pages. nullptr, with errno, if one
// of them is unavailable: the file is too short, or it is a hole and its file system is full. An
// access to a mapping without its pages ends the process by SIGBUS; a process that may write the
// file can still cause this later, by making it shorter.
void* map_present(int fd, std::size_t offset, std::size_t size);

}  // namespace allot::peer
